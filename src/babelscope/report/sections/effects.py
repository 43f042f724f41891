"""The effects that a study looks for: on every task, and over all tasks together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from babelscope.core.intervals import Interval, difference_interval
from babelscope.core.row import Row
from babelscope.report.model import Contrasted, Report, Score, points_of, scale, title_of
from babelscope.report.paired import BySeed, mean_by_seed, verdict
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.words import bounded


class Setting(NamedTuple):
    """What both sides of a contrast are tuned on, and how."""

    task: str
    """Empty: the mean over all tasks."""
    training: str | None
    schedule: str | None


class Sides(NamedTuple):
    """What is compared: for each side the mean over the places that both have, by seed; more is better."""

    unit: str
    first: BySeed
    second: BySeed

    @property
    def interval(self) -> Interval | None:
        """Of the difference; None where a side has no seed in which it was scored on all of the places."""
        return difference_interval(self.first, self.second) if self.first and self.second else None


class Effect(NamedTuple):
    """How much better one condition is than another."""

    claim: str
    first: str
    second: str
    task: str
    """Empty: the mean over all tasks."""
    where: str
    """The task's title, with the training where the task has several."""
    unit: str
    interval: Interval | None
    """None: not known yet."""

    @property
    def verdict(self) -> str:
        """Whether the difference shows."""
        return verdict(self.interval)


@section(order=10)
def contrasts(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """What the study looks for, and whether it shows."""
    if listed := effects(report):
        yield Section("What the study looks for", claims(listed), tables=[effect_table(listed)])


def effects(report: Report) -> list[Effect]:
    """For every contrast the difference over all tasks, then on each; those without rows of both are left out.

    Both sides are averaged over the places that both have, and compared by seed. Over tasks, a task counts once.
    """
    listed = []
    for contrast in report.contrasts:
        each = _settings(report.scores, contrast)
        first, second = (" ".join(filter(None, side)) for side in (contrast.first, contrast.second))
        compared = _overall(each) | each
        listed += [
            Effect(contrast.claim, first, second, setting.task, _where(setting, compared), sides.unit, sides.interval)
            for setting, sides in compared.items()
        ]
    return listed


def claims(listed: Sequence[Effect]) -> list[str]:
    """For every claim, over all tasks (or on the one task there is), what shows and what does not."""
    groups: dict[str, list[Effect]] = {}
    for effect in listed:
        groups.setdefault(effect.claim, []).append(effect)
    return [f"{claim}: {'; '.join(_claimed(group))}." for claim, group in groups.items()]


def _claimed(listed: Sequence[Effect]) -> Iterator[str]:
    overall = [effect for effect in listed if not effect.task] or listed
    for effect in overall:
        factor, symbol = scale(effect.unit)
        where = "" if effect.where == "all tasks" else f", {effect.where}"
        size = f" ({bounded(effect.interval, factor, f' {points_of(symbol)}')})" if effect.interval else ""
        yield f"{effect.verdict} for {effect.first}{where}{size}"


def effect_table(listed: Sequence[Effect]) -> Table:
    """The effects that the study looks for, each over all tasks first."""
    lines = []
    for effect in listed:
        factor, _ = scale(effect.unit)
        lines.append(
            [
                Cell(f"{effect.first} − {effect.second}"),
                Cell(effect.where),
                number_cell(effect.interval.mean * factor if effect.interval else None, "+.1f"),
                bounds_cell(effect.interval, factor),
                number_cell(effect.interval.n if effect.interval else None, "d"),
                Cell(effect.verdict),
                Cell(effect.claim),
            ]
        )
    headers = ["Difference of", "Task", "Points", "95% interval", "Seeds", "Verdict", "Claim"]
    note = (
        "Paired by the seeds that both ran (Welch’s interval where they share none); an effect shows if its interval "
        "leaves out zero."
    )
    return Table("Every effect on every task", headers, lines, note)


def _settings(scores: Sequence[Score], contrast: Contrasted) -> dict[Setting, Sides]:
    """What is compared in every setting in which both conditions were scored."""
    about = [score for score in scores if contrast.is_about(score.task, score.language)]
    first, second = (
        [score for score in about if (score.encoder, score.surgery) == side]
        for side in (contrast.first, contrast.second)
    )
    schedules = dict.fromkeys(score.schedule for score in [*first, *second] if score.seeds) or {None: None}
    a, b = (_by_setting(side, schedules) for side in (first, second))
    return {setting: _sides(a[setting], b[setting]) for setting in a if setting in b}


def _by_setting(scores: Iterable[Score], schedules: Iterable[str | None]) -> dict[Setting, dict[str, Score]]:
    """The scores by setting and place; those without seeds, baselines, stand in every schedule."""
    by_setting: dict[Setting, dict[str, Score]] = {}
    for score in scores:
        for schedule in [score.schedule] if score.seeds else schedules:
            by_setting.setdefault(Setting(score.task, score.training, schedule), {})[score.place] = score
    return by_setting


def _sides(first: Mapping[str, Score], second: Mapping[str, Score]) -> Sides:
    shared = [place for place in first if place in second]
    a, b = (mean_by_seed(_signed(side[place]) for place in shared) for side in (first, second))
    if not all(score.seeds for score in first.values()):
        a = _constant(a, b)
    if not all(score.seeds for score in second.values()):
        b = _constant(b, a)
    return Sides(next(iter(first.values())).unit, a, b)


def _signed(score: Score) -> BySeed:
    """Turned so that more is better."""
    return {seed: score.sign * value for seed, value in score.by_seed.items()}


def _constant(values: BySeed, seeds: Iterable[int]) -> BySeed:
    """The one value of what has no seed, at those of the other side."""
    return dict.fromkeys(seeds, next(iter(values.values()))) if values else {}


def _overall(each: Mapping[Setting, Sides]) -> dict[Setting, Sides]:
    """By schedule the mean over tasks whose scores are shares or correlations, where there are several."""
    by_schedule: dict[str | None, dict[str, list[Sides]]] = {}
    for setting, sides in each.items():
        if sides.unit in ("share", "correlation"):
            by_schedule.setdefault(setting.schedule, {}).setdefault(setting.task, []).append(sides)
    return {
        Setting("", None, schedule): _mean_of_tasks(tasks.values())
        for schedule, tasks in by_schedule.items()
        if len(tasks) > 1
    }


def _mean_of_tasks(tasks: Iterable[Sequence[Sides]]) -> Sides:
    listed = list(tasks)
    first = mean_by_seed(mean_by_seed(sides.first for sides in task) for task in listed)
    second = mean_by_seed(mean_by_seed(sides.second for sides in task) for task in listed)
    return Sides("share", first, second)


def _where(setting: Setting, compared: Iterable[Setting]) -> str:
    """The task's title, and the training where there are several."""
    same = [other for other in compared if other.task == setting.task]
    parts = [title_of(setting.task) if setting.task else "all tasks"]
    if len({other.training for other in same}) > 1:
        parts.append(f"trained on {setting.training}")
    if len({other.schedule for other in same}) > 1:
        parts.append(f"schedule {setting.schedule}" if setting.schedule else "everything trained")
    return ", ".join(parts)
