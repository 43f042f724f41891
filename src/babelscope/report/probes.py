"""What probes say: when curves cross, and what a language gains against what the others lose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from babelscope.report.model import Report
from babelscope.rows import Row
from babelscope.statistics import Interval, student_t_interval

TARGET, CONTROL = "target", "control"
"""Names of corpora: what is learned, and what should not be forgotten meanwhile."""
LOSSES = (0.05, 0.1, 0.2, 0.5, 1.0)
"""How much of its perplexity the control may gain, as shares, in the table of compromises."""

Curves = Mapping[int, Mapping[int, float]]
"""Seed -> step -> value."""


class Crossing(NamedTuple):
    """When a condition's perplexity of the target falls below that of the control."""

    condition: str
    interval: Interval | None
    """Steps, over the seeds in which it does; None: in none."""
    crossed: int
    seeds: int


class Compromise(NamedTuple):
    """A condition and a step, means over seeds."""

    condition: str
    step: int
    target: float
    """Perplexity."""
    control: float
    """Perplexity."""
    loss: float
    """How much higher the control's perplexity is than at the start, as a share of that."""


def is_probe(row: Row) -> bool:
    """Whether the row was measured while a model was trained, on data that do not change."""
    return row.split == "probe"


def perplexities(report: Report) -> dict[str, dict[str, Curves]]:
    """Condition -> corpus -> curves."""
    found: dict[str, dict[str, dict[int, dict[int, float]]]] = {}
    for row in report.rows:
        if is_probe(row) and row.measure == "perplexity" and row.dataset and row.step is not None:
            curves = found.setdefault(report.condition(row), {}).setdefault(row.dataset, {})
            curves.setdefault(row.seed or 0, {})[row.step] = row.value
    return {condition: dict(by) for condition, by in found.items()}


def trained(report: Report) -> dict[str, dict[str, Curves]]:
    """Those perplexities of target and control that change: references, measured once, are left out."""
    found = perplexities(report)
    return {
        condition: by
        for condition, by in found.items()
        if {TARGET, CONTROL} <= by.keys() and any(len(steps) > 1 for steps in by[TARGET].values())
    }


def crossings(report: Report) -> list[Crossing]:
    """For every condition the step at which its curves cross, between two probes by linear interpolation."""
    found = []
    for condition, by in trained(report).items():
        steps = [_crossing(curve, by[CONTROL][seed]) for seed, curve in by[TARGET].items() if seed in by[CONTROL]]
        known = [step for step in steps if step is not None]
        found.append(Crossing(condition, student_t_interval(known) if known else None, len(known), len(steps)))
    return found


def compromises(report: Report) -> list[Compromise]:
    """Every condition at every step that all seeds have; published ones, on other data, are no choice."""
    found = []
    own = {condition: by for condition, by in trained(report).items() if not condition.startswith("published")}
    for condition, by in own.items():
        seeds = by[TARGET].keys() & by[CONTROL].keys()
        shared = set.intersection(*(set(by[name][seed]) for name in (TARGET, CONTROL) for seed in seeds))
        at = {
            step: [sum(by[name][seed][step] for seed in seeds) / len(seeds) for name in (TARGET, CONTROL)]
            for step in sorted(shared)
        }
        start = next(iter(at.values()), None)
        for step, (target, control) in at.items():
            found.append(Compromise(condition, step, target, control, control / start[1] - 1 if start else 0.0))
    return found


def pareto_front(found: Sequence[Compromise]) -> list[Compromise]:
    """Those to which no other is better in one of target and loss and as good in the other, the least loss first."""
    front: list[Compromise] = []
    for one in sorted(found, key=lambda each: (each.loss, each.target)):
        if not front or one.target < front[-1].target:
            front.append(one)
    return front


def best_within(found: Sequence[Compromise], loss: float) -> Compromise | None:
    """The lowest perplexity of the target among those that cost the control no more than a share."""
    return min((one for one in found if one.loss <= loss), key=lambda one: one.target, default=None)


def _crossing(target: Mapping[int, float], control: Mapping[int, float]) -> float | None:
    """The first step from which the target is lower, having been higher; None if there is none."""
    for (step, gap), (after, next_gap) in _pairs(target, control):
        if gap > 0 >= next_gap:
            return step + (after - step) * gap / (gap - next_gap)
    return None


def _pairs(
    target: Mapping[int, float], control: Mapping[int, float]
) -> Iterator[tuple[tuple[int, float], tuple[int, float]]]:
    gaps = [(step, target[step] - control[step]) for step in sorted(target.keys() & control.keys())]
    return pairwise(gaps)
