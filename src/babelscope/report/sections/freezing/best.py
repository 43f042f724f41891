"""Which number of frozen layers is best for other languages, and whether that is more than having been chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from babelscope.core.inference import Effect, Known, best_of, effect, holm
from babelscope.core.intervals import Interval
from babelscope.core.samples import Samples, shared_seeds
from babelscope.core.scores import MEASURES
from babelscope.report.judged import table_over_places, verdict
from babelscope.report.score import Score, scale
from babelscope.report.sections.freezing.sweeps import Sweep
from babelscope.report.words import chance_of

Whole = Mapping[str, Mapping[int, Score]]
"""By place: the scores of those that have every number of frozen layers."""


def best_in_words(swept: Sequence[Sweep]) -> list[str]:
    """Of the places that have every N, so that the means are over the same ones; those that lack one are left out.

    That the best is better is one claim a sweep, and all of these are one family (Holm 1979).
    """
    bests = [_best(sweep, whole) for sweep in swept if (whole := _whole(sweep))]
    adjusted = holm({str(k): best.p for k, best in enumerate(bests) if best.p is not None})
    return [_in_words(best, adjusted.get(str(k))) for k, best in enumerate(bests)]


class Best(NamedTuple):
    """The number of frozen layers that is best for other languages."""

    sweep: Sweep
    whole: Whole
    top: int
    means: Mapping[int, float]
    """By number of frozen layers, in the unit of the score."""
    better: Effect | None
    """How much better than the least number; None: not known, or it is the least."""
    p: float | None
    """Of that, corrected for having been picked (the largest of so many t)."""


def _whole(sweep: Sweep) -> Whole:
    return {place: scores for place, scores in sweep.foreign.items() if len(scores) == len(sweep.numbers)}


def _best(sweep: Sweep, whole: Whole) -> Best:
    numbers, seeds = sweep.numbers, _seeds(whole)
    means = {number: _mean(whole, number, seeds) for number in numbers}
    top = max(numbers, key=lambda number: MEASURES[sweep.measure].sign * means[number])
    tables = over_least(whole, numbers) if top != numbers[0] else None
    if tables is None:
        return Best(sweep, whole, top, means, None, None)
    place = numbers[1:].index(top)
    return Best(sweep, whole, top, means, effect(*tables[place]), best_of(tables)[place])


def _in_words(best: Best, p: float | None) -> str:
    sweep, numbers = best.sweep, best.sweep.numbers
    highest, first = (_number(best.means[number], sweep) for number in (best.top, numbers[0]))
    what = f"{sweep.title}: zero-shot {MEASURES[sweep.measure].name} is"
    part = "" if len(best.whole) == len(sweep.foreign) else f"; over {_languages(best.whole)} with every N"
    if len(set(best.means.values())) == 1:
        return f"{what} {highest} on average, whatever is frozen{part}."
    if best.top == numbers[0]:
        return f"{what} best on average with {_frozen(best.top)} ({highest}{part})."
    chosen = "" if p is None else f", being the best of {len(numbers) - 1} ({chance_of(p)})"
    return (
        f"{what} best on average with {_frozen(best.top)} ({highest}; {first} with {_frozen(numbers[0])}{part}). "
        f"That this is better than with {_frozen(numbers[0])}: {verdict(best.better, p)}{chosen}."
    )


def over_least(whole: Whole, numbers: Sequence[int]) -> list[Known] | None:
    """For each number of frozen layers but the least, how much better it is, all at the same seeds and sentences.

    None without a seed of all.
    """
    if not (seeds := _seeds(whole)):
        return None
    tables = [_over_least(whole, number, numbers[0], seeds) for number in numbers[1:]]
    known = [table for table in tables if table is not None]
    if len({each.table.shape for each in known}) > 1:  # some kept no sentences: what is known of all is their mean
        known = [each._replace(table=each.table.mean(axis=1, keepdims=True)) for each in known]
    return known if len(known) == len(tables) else None


def _over_least(whole: Whole, number: int, least: int, seeds: Sequence[int]) -> Known | None:
    by_language: dict[str, list[Samples]] = defaultdict(list)
    for scores in whole.values():
        difference = scores[number].samples.at(seeds) - scores[least].samples.at(seeds)
        if difference is None:
            return None
        by_language[scores[number].itself].append(difference)
    return table_over_places(by_language)


def _seeds(whole: Whole) -> tuple[int, ...] | None:
    """Those that all scores have."""
    return shared_seeds([score.samples for by_number in whole.values() for score in by_number.values()])


def _mean(whole: Whole, number: int, seeds: Sequence[int] | None) -> float:
    """Over languages, at these seeds (None: at its own); one with several data sets counts once."""
    by_language: dict[str, list[float]] = defaultdict(list)
    for scores in whole.values():
        score = scores[number]
        samples = score.samples.at(seeds) if seeds else score.samples
        by_language[score.itself].append(score.sign * samples.mean)
    mean = fmean(map(fmean, by_language.values()))
    measure = MEASURES[next(iter(whole.values()))[number].measure]
    return measure.taken_back(Interval(mean, None, None, None, 0)).mean


def _number(value: float, sweep: Sweep) -> str:
    factor, symbol = scale(sweep.first.unit)
    return f"{value * factor:.1f}{symbol if symbol == '%' else f' {symbol}'.rstrip()}"


def _languages(whole: Whole) -> str:
    count = len({score.itself for scores in whole.values() for score in scores.values()})
    return f"{count} language{'' if count == 1 else 's'}"


def _frozen(count: int) -> str:
    named = {-1: "nothing frozen", 0: "the embeddings frozen", 1: "one layer frozen"}
    return named.get(count, f"{count} layers frozen")
