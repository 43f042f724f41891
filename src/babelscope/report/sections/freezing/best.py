"""Which number of frozen layers is best for other languages, and whether that is more than having been chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from babelscope.core.inference import Effect, best_of, effect, holm
from babelscope.core.scores import MEASURES
from babelscope.report.judged import verdict
from babelscope.report.score import scale
from babelscope.report.sections.freezing.sweeps import Sweep
from babelscope.report.sections.freezing.whole import (
    Whole,
    count_of,
    frozen_in_words,
    mean_over,
    over_least,
    seeds_of,
    whole,
)
from babelscope.report.words import chance_of


def best_in_words(swept: Sequence[Sweep]) -> list[str]:
    """Of the places that have every N, so that the means are over the same ones; those that lack one are left out.

    That the best is better is one claim a sweep, and all of these are one family (Holm 1979).
    """
    bests = [_best(sweep, scores) for sweep in swept if (scores := whole(sweep.foreign, sweep.numbers))]
    adjusted = holm({str(k): best.p for k, best in enumerate(bests) if best.p is not None})
    return [_in_words(best, adjusted.get(str(k))) for k, best in enumerate(bests)]


class Best(NamedTuple):
    """The number of frozen layers that is best for other languages."""

    sweep: Sweep
    scores: Whole
    top: int
    means: Mapping[int, float]
    """By number of frozen layers, in the unit of the score."""
    better: Effect | None
    """How much better than the least number; None: not known, or it is the least."""
    p: float | None
    """Of that, corrected for having been picked (the largest of so many t)."""


def _best(sweep: Sweep, scores: Whole) -> Best:
    numbers, seeds = sweep.numbers, seeds_of(scores)
    means = {number: mean_over(scores, number, seeds) for number in numbers}
    top = max(numbers, key=lambda number: MEASURES[sweep.measure].sign * means[number])
    tables = over_least(scores, numbers) if top != numbers[0] else None
    if tables is None:
        return Best(sweep, scores, top, means, None, None)
    place = numbers[1:].index(top)
    return Best(sweep, scores, top, means, effect(*tables[place]), best_of(tables)[place])


def _in_words(best: Best, p: float | None) -> str:
    sweep, numbers = best.sweep, best.sweep.numbers
    highest, first = (_number(best.means[number], sweep) for number in (best.top, numbers[0]))
    what = f"{sweep.title}: zero-shot {MEASURES[sweep.measure].name} is"
    part = "" if len(best.scores) == len(sweep.foreign) else f"; over {_languages(best.scores)} with every N"
    if len(set(best.means.values())) == 1:
        return f"{what} {highest} on average, whatever is frozen{part}."
    if best.top == numbers[0]:
        return f"{what} best on average with {frozen_in_words(best.top)} ({highest}{part})."
    chosen = "" if p is None else f", being the best of {len(numbers) - 1} ({chance_of(p)})"
    fewest = frozen_in_words(numbers[0])
    return (
        f"{what} best on average with {frozen_in_words(best.top)} ({highest}; {first} with {fewest}{part}). "
        f"That this is better than with {fewest}: {verdict(best.better, p)}{chosen}."
    )


def _number(value: float, sweep: Sweep) -> str:
    factor, symbol = scale(sweep.first.unit)
    return f"{value * factor:.1f}{symbol if symbol == '%' else f' {symbol}'.rstrip()}"


def _languages(places: Whole) -> str:
    count = count_of(places)
    return f"{count} language{'' if count == 1 else 's'}"
