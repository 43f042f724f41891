"""Values by seed, and their means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

BySeed = Mapping[int, float]


def mean_by_seed(values: Iterable[BySeed]) -> BySeed:
    """The mean of several, at the seeds that all have."""
    listed = list(values)
    seeds = sorted(set[int].intersection(*map(set, listed))) if listed else []
    return {seed: sum(each[seed] for each in listed) / len(listed) for seed in seeds}
