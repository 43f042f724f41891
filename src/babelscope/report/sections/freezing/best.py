"""Which number of frozen layers is best for other languages, and whether that is more than having been chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from babelscope.core.inference import FEWEST_SEEDS, Table, best_of
from babelscope.core.samples import Samples
from babelscope.report.judged import LEVEL, table_over_places
from babelscope.report.kinds import SCORES
from babelscope.report.model import Score, scale
from babelscope.report.sections.freezing.sweeps import Sweep

Whole = Mapping[str, Mapping[int, Score]]
"""By place: the scores of those that have every number of frozen layers."""


def best_in_words(swept: Sequence[Sweep]) -> Iterator[str]:
    """Of the places that have every N, so that the means are over the same ones; those that lack one are left out."""
    for sweep in swept:
        whole = {place: scores for place, scores in sweep.foreign.items() if len(scores) == len(sweep.numbers)}
        if whole:
            yield _best(sweep, whole)


def _best(sweep: Sweep, whole: Whole) -> str:
    measure, numbers = SCORES[sweep.measure], sweep.numbers
    means = {n: _mean(whole, n) for n in numbers}
    top, least = max(numbers, key=lambda n: measure.sign * means[n]), numbers[0]
    best, first = (_number(means[n], sweep) for n in (top, least))
    what = f"{sweep.title}: zero-shot {measure.name} is"
    part = "" if len(whole) == len(sweep.foreign) else f"; over {_languages(whole)} with every N"
    if len(set(means.values())) == 1:
        return f"{what} {best} on average, whatever is frozen{part}."
    if top == least:
        return f"{what} best on average with {_frozen(top)} ({best}{part})."
    said = _chosen(gains(whole, numbers), numbers[1:].index(top))
    return (
        f"{what} best on average with {_frozen(top)} ({best}; {first} with {_frozen(least)}{part}). "
        f"That this is better than with {_frozen(least)} {said}."
    )


def gains(whole: Whole, numbers: Sequence[int]) -> list[Table] | None:
    """For each number of frozen layers but the first, how much better it is than that; None without a seed of all."""
    tables = [table for number in numbers[1:] if (table := _gain(whole, number, numbers[0])) is not None]
    return tables if len(tables) == len(numbers) - 1 else None


def _gain(whole: Whole, number: int, least: int) -> Table | None:
    by_language: dict[str, list[Samples]] = defaultdict(list)
    for scores in whole.values():
        difference = scores[number].samples - scores[least].samples
        if difference is None:
            return None
        by_language[scores[number].language].append(difference)
    return table_over_places(by_language)


def _mean(whole: Whole, number: int) -> float:
    """Over languages; one with several data sets counts once."""
    by_language: dict[str, list[float]] = defaultdict(list)
    for scores in whole.values():
        by_language[scores[number].language].append(scores[number].interval.mean)
    return fmean(map(fmean, by_language.values()))


def _chosen(tables: Sequence[Table] | None, best: int) -> str:
    """Whether the best shows, corrected for having been chosen among all (the largest of so many t)."""
    if tables is None:
        return "cannot be said yet"
    p = best_of(tables)[best]
    if p is None:
        few = tables[best].shape[0] < FEWEST_SEEDS
        return f"cannot be said: {'not enough seeds' if few else 'nothing varies'}"
    return f"{'shows' if p < LEVEL else 'does not show'}, being the best of {len(tables)} (p = {p:.3f})"


def _number(value: float, sweep: Sweep) -> str:
    factor, symbol = scale(sweep.first.unit)
    return f"{value * factor:.1f}{symbol if symbol == '%' else f' {symbol}'.rstrip()}"


def _languages(whole: Whole) -> str:
    count = len({score.language for scores in whole.values() for score in scores.values()})
    return f"{count} language{'' if count == 1 else 's'}"


def _frozen(count: int) -> str:
    named = {-1: "nothing frozen", 0: "the embeddings frozen", 1: "one layer frozen"}
    return named.get(count, f"{count} layers frozen")
