"""What a contrast comes to in every setting: task by task, and over all tasks together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from babelscope.core.inference import Effect, effect
from babelscope.core.samples import Samples, drawn_of, mean_of, mean_over, shared_seeds
from babelscope.report.judged import over_places
from babelscope.report.model import Contrasted, Report
from babelscope.report.paired import differences
from babelscope.report.score import Score, title_of
from babelscope.report.shown import Shown


class Setting(NamedTuple):
    """What both sides of a contrast are tuned on, and how."""

    task: str
    """Empty: the mean over all tasks."""
    training: str | None
    schedule: str | None
    """Of both sides; None too where each has its own."""


class Compared(NamedTuple):
    """What a contrast comes to in a setting."""

    shown: Shown
    by_language: Mapping[str, Sequence[Samples]]
    """At every place that both sides have, how much better the first is; empty where they share no seed."""
    left_out: Sequence[str] = ()
    """What one side has and the other lacks."""
    told: Mapping[str, Sequence[Samples]] | None = None
    """Of a mean over tasks that are not all of the same languages: in each language the mean over its own tasks."""
    drawn: int | None = None
    """Of a mean over tasks: from how many languages the spread over them is known."""

    @property
    def effect(self) -> Effect | None:
        """The mean over places; None: not known yet."""
        return over_places(self.by_language, self.drawn)

    @property
    def effects(self) -> dict[str, Effect]:
        """That of each language alone."""
        return {language: effect(*mean.known) for language, mean in self._means.items()}

    @property
    def in_each(self) -> dict[str, float]:
        """The mean in each language, at the seeds that all languages have: those of the effect."""
        seeds = shared_seeds(self._means.values())
        return {language: mean.at(seeds).mean for language, mean in self._means.items()} if seeds is not None else {}

    @property
    def by_language_and_seed(self) -> dict[tuple[str, int], float]:
        """The mean over a language's places, at every seed that all of them have."""
        means = self._means.items()
        return {(language, seed): value for language, mean in means for seed, value in mean.by_seed.items()}

    @property
    def _means(self) -> dict[str, Samples]:
        return _by_language(self.by_language if self.told is None else self.told)


def settings(report: Report, contrast: Contrasted) -> dict[Setting, Compared]:
    """What is compared in every setting in which both conditions were scored."""
    about = [score for score in report.scores if contrast.is_about(score.task, score.language)]
    sides = contrast.first, contrast.second
    first, second = ([score for score in about if side.has(score)] for side in sides)
    if contrast.names_schedules:
        a, b = (_under(side.schedule, scores) for side, scores in zip(sides, (first, second), strict=True))
    else:
        schedules = dict.fromkeys(score.schedule for score in [*first, *second] if score.seeds) or {None: None}
        a, b = (_by_setting(side, schedules) for side in (first, second))
    return {setting: _compared(report, a[setting], b[setting]) for setting in a if setting in b}


def _under(schedule: str | None, scores: Iterable[Score]) -> dict[Setting, dict[str, Score]]:
    """The scores under one schedule, by setting and place; settings do not tell it, as the other side has another."""
    by_setting = _by_setting([score for score in scores if score.schedule == schedule], [schedule])
    return {setting._replace(schedule=None): places for setting, places in by_setting.items()}


def _by_setting(scores: Iterable[Score], schedules: Iterable[str | None]) -> dict[Setting, dict[str, Score]]:
    """The scores by setting and place; those without seeds, baselines, stand in every schedule."""
    by_setting: dict[Setting, dict[str, Score]] = {}
    for score in scores:
        for schedule in [score.schedule] if score.seeds else schedules:
            by_setting.setdefault(Setting(score.task, score.training, schedule), {})[score.place] = score
    return by_setting


def _compared(report: Report, first: Mapping[str, Score], second: Mapping[str, Score]) -> Compared:
    """At the places that both have; nothing where at one of these they share no seed."""
    pairs = [(first[place], second[place]) for place in first if place in second]
    left_out = [place for place in dict.fromkeys([*first, *second]) if not (place in first and place in second)]
    if not pairs:
        return Compared(Shown.of(next(iter(first.values()))), {}, left_out)
    shown, better = differences(report, pairs)
    by_language: dict[str, list[Samples]] = {}
    for (score, _), difference in zip(pairs, better, strict=True):
        if difference is None:
            return Compared(shown, {}, left_out)
        by_language.setdefault(score.itself, []).append(difference)
    return Compared(shown, by_language, left_out)


def is_mean(compared: Compared) -> bool:
    """Whether means over tasks have it: differences of perplexities are ratios, and no points."""
    return compared.shown.unit in ("share", "correlation")


def over_all(each: Mapping[Setting, Compared]) -> dict[Setting, Compared]:
    """By schedule the mean over tasks whose scores are shares or correlations, where there are several."""
    by_schedule: dict[str | None, dict[str, list[Compared]]] = {}
    for setting, compared in each.items():
        if is_mean(compared):
            by_schedule.setdefault(setting.schedule, {}).setdefault(setting.task, []).append(compared)
    return {
        Setting("", None, schedule): _mean_of_tasks(tasks) for schedule, tasks in by_schedule.items() if len(tasks) > 1
    }


def _mean_of_tasks(tasks: Mapping[str, Sequence[Compared]]) -> Compared:
    """A task counts once, however many trainings and languages it has."""
    left_out = dict.fromkeys(
        f"{place} ({title_of(task)})"
        for task, each in tasks.items()
        for compared in each
        for place in compared.left_out
    )
    trainings = [[_by_language(compared.by_language) for compared in each] for each in tasks.values()]
    joined = mean_over([mean_over(task) for task in trainings]) if all(map(all, trainings)) else {}
    by_language = {language: [mean] for language, mean in joined.items()}
    drawn = drawn_of(training for task in trainings for training in task)
    return Compared(Shown("share"), by_language, list(left_out), _told(trainings) if joined else None, drawn)


def _told(trainings: Sequence[Sequence[Mapping[str, Samples]]]) -> dict[str, list[Samples]]:
    """In each language the mean over the tasks that have it, each the mean over its trainings that do."""
    tasks = [_by_language(_gathered(task)) for task in trainings]
    return {language: [mean] for language, mean in _by_language(_gathered(tasks)).items()}


def _gathered(groups: Sequence[Mapping[str, Samples]]) -> dict[str, list[Samples]]:
    languages = dict.fromkeys(language for group in groups for language in group)
    return {language: [group[language] for group in groups if language in group] for language in languages}


def _by_language(places: Mapping[str, Sequence[Samples]]) -> dict[str, Samples]:
    """The mean over a language's places, as far as these share a seed."""
    return {language: mean for language, each in places.items() if (mean := mean_of(each))}
