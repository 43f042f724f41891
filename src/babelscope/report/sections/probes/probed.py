"""What probes say: when curves cross, and what a language gains against what the others lose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Literal, NamedTuple, get_args

from babelscope.core.intervals import Interval, geometric_interval, student_t_interval
from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.report.kinds import main_measure
from babelscope.report.model import Report
from babelscope.report.published import NAMED
from babelscope.report.score import title_of
from babelscope.report.text_sizes import TextSize

TARGET, CONTROL = "target", "control"
"""Names of corpora: what is learned, and what should not be forgotten meanwhile."""
LOSSES = (0.05, 0.1, 0.2, 0.5, 1.0)
"""How much of its perplexity the control may gain, as shares, in the table of compromises."""

Curves = Mapping[int, Mapping[int, float]]
"""Seed -> step -> value."""
Per = Literal["token", "character", "byte"]
"""What a perplexity is of."""


class Group(NamedTuple):
    """Trainings whose perplexities can be compared: those of another encoder are over other pieces."""

    task: str
    """A title; empty: not tuned."""
    start: str
    """The encoder before training."""
    languages: str
    """Of target and control."""


class Training(NamedTuple):
    """A condition, and the perplexities measured in it."""

    group: Group
    condition: str
    name: str
    """The condition, with whatever else it takes to tell it from the others of the report."""
    corpora: Mapping[str, Curves]
    sizes: Mapping[str, TextSize]
    """Of the corpora where it is known."""

    @property
    def seeds(self) -> list[int]:
        """Those of both target and control."""
        return sorted(self.corpora.get(TARGET, {}).keys() & self.corpora.get(CONTROL, {}).keys())

    @property
    def moves(self) -> bool:
        """Whether it was measured more than once: references are not."""
        return any(len(curve) > 1 for curves in self.corpora.values() for curve in curves.values())

    @property
    def last(self) -> int | None:
        """The last step at which everything was measured with every seed; None: there is none."""
        curves = [curve for by_seed in self.corpora.values() for curve in by_seed.values()]
        return max(shared_steps(curves), default=None)

    def curves(self, corpus: str, per: Per) -> Curves:
        """Of a corpus; empty where it is not known how many characters and bytes it has, and they are asked for."""
        curves, size = self.corpora[corpus], self.sizes.get(corpus)
        if per == "token":
            return curves
        if size is None:
            return {}
        spread = size.per_character if per == "character" else size.per_byte
        return {seed: {step: spread(value) for step, value in curve.items()} for seed, curve in curves.items()}

    def at_end(self, corpus: str) -> Interval | None:
        """The geometric mean over seeds at the last step."""
        step = self.last
        values = [] if step is None else [curve[step] for curve in self.corpora.get(corpus, {}).values()]
        return geometric_interval(values) if values else None


class Crossing(NamedTuple):
    """When a condition's perplexity of the target falls below that of the control.

    They are of two texts, whose tokens need not be as long. So it can differ by what a perplexity is of.
    """

    name: str
    per: Per
    interval: Interval | None
    """Steps, over the seeds in which it does; None: in none."""
    crossed: int
    seeds: int


class Compromise(NamedTuple):
    """A condition and a step, geometric means over seeds."""

    condition: str
    step: int
    """0: not trained."""
    target: float
    """Perplexity."""
    control: float
    """Perplexity."""
    loss: float
    """How much higher the control's perplexity is than at the start, as a share of that."""
    seeds: int


def perplexities(report: Report) -> list[Training]:
    """Every condition of every task, and references, which belong to no task and are measured once."""
    groups: dict[tuple[str | None, ...], list[Row]] = defaultdict(list)
    for row in report.rows:
        if row.kind == "probe" and row.measure == "perplexity" and row.dataset and row.step is not None:
            # A reference is measured anew on the corpora of each task: only its keys tell these apart.
            groups[row.task, report.condition(row), None if row.task else row.key].append(row)
    trainings = [_training(report, rows) for rows in groups.values()]
    named = told_apart(
        (training.condition, training.group.task, training.group.languages if not training.moves else "")
        for training in trainings
    )
    return [training._replace(name=name or training.condition) for training, name in zip(trainings, named, strict=True)]


def trained(report: Report) -> list[Training]:
    """Those in which a target and a control change."""
    return [training for training in perplexities(report) if training.seeds and training.moves]


def _ours(report: Report) -> list[Training]:
    return [training for training in trained(report) if not training.condition.startswith(NAMED)]


def crossings(report: Report) -> list[Crossing]:
    """For every condition the step at which its curves cross, between two probes by linear interpolation.

    Not of published ones: single runs over few sentences, they go up and down and cross again and again.
    """
    crossed = []
    for training, per in product(_ours(report), get_args(Per)):
        target, control = (training.curves(corpus, per) for corpus in (TARGET, CONTROL))
        if target and control:
            steps = [_crossing(target[seed], control[seed]) for seed in training.seeds]
            known = [step for step in steps if step is not None]
            interval = student_t_interval(known) if known else None
            crossed.append(Crossing(training.name, per, interval, len(known), len(steps)))
    return crossed


def compromises(report: Report) -> dict[str, list[Compromise]]:
    """What can be compared, by what tells it from the rest: every condition at every step that all its seeds have.

    Published ones, on other data, are no choice.
    """
    groups: dict[Group, list[Compromise]] = defaultdict(list)
    for training in _ours(report):
        groups[training.group] += _compromises(training)
    named = zip(told_apart(groups), groups.values(), strict=True)
    return {name: choices for name, choices in named if choices}


def pareto_front(choices: Sequence[Compromise]) -> list[Compromise]:
    """Those to which no other is better in one of target and loss and as good in the other, the least loss first."""
    front: list[Compromise] = []
    for choice in sorted(choices, key=lambda each: (each.loss, each.target)):
        if not front or choice.target < front[-1].target:
            front.append(choice)
    return front


def best_within(choices: Sequence[Compromise], loss: float) -> Compromise | None:
    """The lowest perplexity of the target among those that cost the control no more than a share.

    None: nothing within it is better than not to train.
    """
    allowed = (choice for choice in choices if choice.loss <= loss)
    best = min(allowed, key=lambda choice: (choice.target, choice.step), default=None)
    return best if best and best.step else None


def scored(report: Report) -> dict[tuple[str, str, str], dict[str, dict[str, Curves]]]:
    """Task, measure and unit -> condition -> data set -> curves of the task's main score; perplexities apart."""
    by_task: dict[tuple[str, str, str], dict[str, dict[str, dict[int, dict[int, float]]]]] = {}
    for row in report.rows:
        main = main_measure(row, report.main)
        if row.kind == "probe" and measure_of(row.measure).main and row.measure == main != "perplexity":
            panels = by_task.setdefault((row.task or "", row.measure, row.unit), {})
            curves = panels.setdefault(report.condition(row), {}).setdefault(row.dataset or "", {})
            curves.setdefault(row.seed or 0, {})[row.step or 0] = row.value
    return {key: {name: dict(curves) for name, curves in panels.items()} for key, panels in by_task.items()}


def shared_steps(curves: Iterable[Mapping[int, float]]) -> list[int]:
    """The steps at which all were measured."""
    return sorted(set.intersection(*(set(curve) for curve in curves)))


def told_apart(named: Iterable[tuple[str, ...]]) -> list[str]:
    """Each as a text of those of its parts in which those that have one differ; empty for one alone."""
    listed = list(named)
    differ = [len(set(parts) - {""}) > 1 for parts in zip(*listed, strict=True)]
    return [", ".join(part for part, kept in zip(texts, differ, strict=True) if kept and part) for texts in listed]


def _training(report: Report, rows: Sequence[Row]) -> Training:
    corpora: dict[str, dict[int, dict[int, float]]] = {}
    languages = {row.dataset or "": row.language or "" for row in rows}
    for row in rows:
        corpora.setdefault(row.dataset or "", {}).setdefault(row.seed or 0, {})[row.step or 0] = row.value
    task = title_of(rows[0].task) if rows[0].task else ""
    measured = " and ".join(languages[name] for name in (TARGET, CONTROL) if languages.get(name))
    condition = report.condition(rows[0])
    sizes = {row.dataset or "": size for row in rows if (size := report.size_of(row))}
    return Training(Group(task, report.start(rows[0]), measured), condition, condition, corpora, sizes)


def _compromises(training: Training) -> list[Compromise]:
    curves = {name: [training.corpora[name][seed] for seed in training.seeds] for name in (TARGET, CONTROL)}
    steps = shared_steps([*curves[TARGET], *curves[CONTROL]])
    means = {
        step: [geometric_interval([curve[step] for curve in curves[name]]).mean for name in (TARGET, CONTROL)]
        for step in steps
    }
    return [
        Compromise(training.condition, step, target, control, control / means[steps[0]][1] - 1, len(training.seeds))
        for step, (target, control) in means.items()
    ]


def _crossing(target: Mapping[int, float], control: Mapping[int, float]) -> float | None:
    """The first step at which the target gets lower, having been higher; None if there is none, or it ends higher."""
    pairs = list(_pairs(target, control))
    if not pairs or pairs[-1][1][1] > 0:
        return None
    for (step, gap), (after, next_gap) in pairs:
        if gap > 0 >= next_gap:
            return step + (after - step) * gap / (gap - next_gap)
    return None


def _pairs(
    target: Mapping[int, float], control: Mapping[int, float]
) -> Iterator[tuple[tuple[int, float], tuple[int, float]]]:
    gaps = [(step, target[step] - control[step]) for step in sorted(target.keys() & control.keys())]
    return pairwise(gaps)
