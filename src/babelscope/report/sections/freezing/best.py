"""Which number of frozen layers is best for other languages, and whether that is more than having been chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from babelscope.core.inference import FEWEST_LANGUAGES, FEWEST_SEEDS, Table, best_of
from babelscope.core.samples import Samples, joined, mean_of
from babelscope.report.judged import LEVEL
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
    means = {n: sum(scores[n].interval.mean for scores in whole.values()) / len(whole) for n in numbers}
    top, least = max(numbers, key=lambda n: measure.sign * means[n]), numbers[0]
    best, first = (_number(means[n], sweep) for n in (top, least))
    what = f"{sweep.title}: zero-shot {measure.name} is"
    part = "" if len(whole) == len(sweep.foreign) else f"; over {_places(len(whole))} with every N"
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
    tables = []
    for number in numbers[1:]:
        differences = [scores[number].samples - scores[numbers[0]].samples for scores in whole.values()]
        known = [difference for difference in differences if difference]
        table = _table(known, whole) if len(known) == len(differences) else None
        if table is None:
            return None
        tables.append(table)
    return tables


def _table(differences: Sequence[Samples], whole: Whole) -> Table | None:
    """With the languages as one of its axes where there are enough to stand for others."""
    languages = {score.language for scores in whole.values() for score in scores.values()}
    if len(languages) >= FEWEST_LANGUAGES:
        return joined(differences)
    mean = mean_of(differences)
    return mean.table if mean else None


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


def _places(count: int) -> str:
    return f"{count} language{'' if count == 1 else 's'}"


def _frozen(count: int) -> str:
    named = {-1: "nothing frozen", 0: "the embeddings frozen", 1: "one layer frozen"}
    return named.get(count, f"{count} layers frozen")
