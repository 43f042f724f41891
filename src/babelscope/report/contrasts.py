"""The effects that a study looks for: on every task, and over all tasks together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from babelscope.report.model import Report, Score
from babelscope.statistics import Interval, difference_interval


class Effect(NamedTuple):
    """How much better one condition is than another."""

    claim: str
    first: str
    second: str
    task: str
    """Empty: the mean over all tasks."""
    unit: str
    interval: Interval

    @property
    def verdict(self) -> str:
        """Whether the difference shows."""
        return verdict(self.interval)


def verdict(interval: Interval, sign: int = 1) -> str:
    """Whether the interval of a difference leaves out zero, on which side; `sign` is -1 where less is better."""
    if interval.low is None:
        return f"cannot be said: {'one seed' if interval.n == 1 else 'all seeds alike'}"
    return {1: "shows", -1: "the reverse shows", 0: "does not show"}[sign * interval.sign]


def effects(report: Report) -> list[Effect]:
    """For every contrast the difference over all tasks, then on each; those without rows are left out.

    Differences are paired by seed. Over tasks, the mean of all places of a task counts once, by seed.
    """
    found = []
    for contrast in report.contrasts:
        by_task = {
            task: difference
            for task, scores in _by_task(report.scores).items()
            if (difference := _difference(scores, contrast.first, contrast.second))
        }
        first, second = (" ".join(filter(None, one)) for one in (contrast.first, contrast.second))
        each = [
            Effect(contrast.claim, first, second, task, unit, difference_interval(a, b))
            for task, (unit, a, b) in by_task.items()
        ]
        found += [*_overall(contrast.claim, first, second, by_task), *each]
    return found


_Sides = tuple[str, Mapping[int, float], Mapping[int, float]]
"""A unit, and for each side the mean over places by seed."""


def _overall(claim: str, first: str, second: str, by_task: Mapping[str, _Sides]) -> list[Effect]:
    """The mean over tasks whose scores are shares or correlations, where there are several."""
    sides = [(a, b) for unit, a, b in by_task.values() if unit in ("share", "correlation")]
    seeds = set.intersection(*(set(a) & set(b) for a, b in sides)) if sides else set()
    if len(sides) < 2 or not seeds:
        return []
    a, b = ({seed: sum(side[k][seed] for side in sides) / len(sides) for seed in seeds} for k in (0, 1))
    return [Effect(claim, first, second, "", "share", difference_interval(a, b))]


def _by_task(scores: Sequence[Score]) -> dict[str, list[Score]]:
    groups: dict[str, list[Score]] = {}
    for score in scores:
        groups.setdefault(score.task, []).append(score)
    return groups


def _difference(
    scores: Sequence[Score], first: tuple[str, str | None], second: tuple[str, str | None]
) -> _Sides | None:
    sides = [[one for one in scores if (one.encoder, one.surgery) == wanted] for wanted in (first, second)]
    if not all(sides):
        return None
    a, b = (_mean_by_seed(side) for side in sides)
    return scores[0].unit, a, b


def _mean_by_seed(scores: Sequence[Score]) -> dict[int, float]:
    """Signed so that more is better."""
    seeds = set.intersection(*(set(score.by_seed) for score in scores))
    return {seed: sum(score.sign * score.by_seed[seed] for score in scores) / len(scores) for seed in sorted(seeds)}
