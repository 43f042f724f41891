"""Values by seed, their means, and what the interval of a difference says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from babelscope.core.intervals import Interval

BySeed = Mapping[int, float]


def mean_by_seed(values: Iterable[BySeed]) -> BySeed:
    """The mean of several, at the seeds that all have."""
    listed = list(values)
    seeds = sorted(set[int].intersection(*map(set, listed))) if listed else []
    return {seed: sum(each[seed] for each in listed) / len(listed) for seed in seeds}


def verdict(interval: Interval | None, sign: int = 1) -> str:
    """Whether the interval of a difference leaves out zero, on which side; `sign` is -1 where less is better."""
    if interval is None:
        return "cannot be said yet"
    if interval.low is None:
        return f"cannot be said: {'one seed' if interval.n == 1 else 'all seeds alike'}"
    return {1: "shows", -1: "the reverse shows", 0: "does not show"}[sign * interval.sign]
