"""Means and differences over seeds, sentences and languages by loops: what the fast ones are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import prod, sqrt
from statistics import fmean, variance
from typing import Any, NamedTuple

import numpy as np
from scipy import stats


class Found(NamedTuple):
    """A mean with its 95% interval and two-sided p-value."""

    mean: float
    low: float
    high: float
    p: float


def share_of_each(right: Sequence[float], words: Sequence[float]) -> list[float]:
    """What each sentence adds to a ratio of sums, times the number of sentences: their mean is the ratio."""
    total, ratio = sum(words), sum(right) / sum(words)
    return [ratio + len(words) * (a - ratio * b) / total for a, b in zip(right, words, strict=True)]


def judged(table: Any, drawn: int | None = None) -> Found:
    """Of the mean over a table whose axes are all drawn by chance; those of length one are left out.

    The spread over the last axis can be known from fewer than it has.
    """
    numbers = np.asarray(table, dtype=float).squeeze()
    counts = [*numbers.shape]
    if drawn and numbers.ndim > 1:
        counts[-1] = min(counts[-1], drawn)
    by_axes = {axes: _explained(numbers, axes) for count in range(1, numbers.ndim + 1)
               for axes in combinations(range(numbers.ndim), count)}  # fmt: skip
    alone = [by_axes[axis,] for axis in range(numbers.ndim)]
    total = sum(part * (-1) ** (len(axes) + 1) for axes, part in by_axes.items())
    if total < max(alone):
        total = (max(0, total) + max(alone)) / 2 if min(counts) >= 5 else max(alone)
    freedom = total**2 / sum(part**2 / (count - 1) for part, count in zip(alone, counts, strict=True))
    if numbers.ndim > 1 and min(counts) < 5:
        fewest = min(counts)
        freedom = max(fewest - 1, freedom * (fewest - 1) / (fewest + 1))
    mean, error = fmean(numbers.ravel().tolist()), sqrt(total)
    reach = stats.t.ppf(0.975, freedom) * error
    return Found(mean, mean - reach, mean + reach, 2 * stats.t.sf(abs(mean) / error, freedom))


Number = tuple[str, str, str, int]
"""Task, pair, language and seed."""


def by_seed_and_language(values: Mapping[Number, float]) -> list[list[float]]:
    """[seeds, languages], or [seeds, 1]: the mean over a task's pairs, then over tasks, in each language and seed.

    In a language that a task lacks, the task has the mean over its others there. What these are above or below it
    counts more, so that the variance of the task's mean over its languages stays; of one or two it does not count.
    """
    tasks, pairs, languages, seeds = (list(dict.fromkeys(number[place] for number in values)) for place in range(4))
    there = {number[:3] for number in values}
    whole = [seed for seed in sorted(seeds) if all((*which, seed) in values for which in there)]

    def of_task(task: str, language: str, seed: int) -> float:
        own = {code: [values[task, pair, code, seed] for pair in pairs if (task, pair, code) in there]
               for code in languages}  # fmt: skip
        means = {code: fmean(numbers) for code, numbers in own.items() if numbers}
        level = fmean(means.values())
        if len(means) == len(languages):
            return means[language]
        if len(means) < 3:
            return level
        spread = variance(means.values()) / len(means)
        left = [means.get(code, level) - level for code in languages]
        return level + left[languages.index(language)] * sqrt(spread / (variance(left) / len(left)) if spread else 1)

    table = [[fmean(of_task(task, code, seed) for task in tasks) for code in languages] for seed in whole]
    return table if known_from(values) >= 3 else [[fmean(row)] for row in table]


def known_from(values: Mapping[Number, float]) -> int:
    """From how many languages the spread over them is known: those of the task with the fewest but one or two."""
    counts = [len({language for one, _, language, _ in values if one == task}) for task, *_ in values]
    return min((count for count in counts if count >= 3), default=1)


def _explained(numbers: Any, axes: tuple[int, ...]) -> float:
    """The variance of the mean by what these axes explain together and not apart."""
    lengths = [numbers.shape[axis] for axis in axes]
    squares = sum(_apart(numbers, axes, place) ** 2 for place in product(*map(range, lengths)))
    return squares / prod(n - 1 for n in lengths) / prod(lengths)


def _apart(numbers: Any, axes: tuple[int, ...], place: tuple[int, ...]) -> float:
    """How far the mean at this place is from what fewer of the axes say of it."""
    at = dict(zip(axes, place, strict=True))
    here = [float(numbers[cell]) for cell in product(*map(range, numbers.shape))
            if all(cell[axis] == index for axis, index in at.items())]  # fmt: skip
    fewer = [some for count in range(len(axes)) for some in combinations(axes, count)]
    return fmean(here) - sum(_apart(numbers, some, tuple(at[axis] for axis in some)) for some in fewer)
