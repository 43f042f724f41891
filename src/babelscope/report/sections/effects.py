"""The effects that a study looks for: on every task, and over all tasks together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from babelscope.core.inference import Effect, benjamini_hochberg, effect, holm
from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.core.samples import Samples, drawn_of, mean_of, mean_over, shared_seeds
from babelscope.core.words import listed
from babelscope.report.judged import Verdict, among, judged, over_places, p_of
from babelscope.report.model import Contrasted, Report
from babelscope.report.paired import differences
from babelscope.report.score import Score, title_of
from babelscope.report.section import Section, section
from babelscope.report.sections.effect_tables import effect_table, language_table, mixed_table
from babelscope.report.sections.effects_told import effect_answer, effect_figures
from babelscope.report.shown import Shown
from babelscope.report.words import counted

ALL_TASKS = "all tasks"
NAMED = 3
"""Languages of a claim; more are counted, and the table by language names them."""


class Setting(NamedTuple):
    """What both sides of a contrast are tuned on, and how."""

    task: str
    """Empty: the mean over all tasks."""
    training: str | None
    schedule: str | None


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
        return {language: effect(mean.table) for language, mean in self._means.items()}

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


class Line(NamedTuple):
    """A contrast in a setting, with its verdict."""

    contrast: Contrasted
    setting: Setting
    where: str
    """The task's title, with the training where the task has several."""
    within: str
    """The languages that the claim is about alone, after a comma; empty: all of them."""
    compared: Compared
    effect: Effect | None
    is_claim: bool
    """Whether it is a claim of the study; else it is a line of the table alone."""
    sides: tuple[str, str]
    """The two conditions in words."""
    verdict: Verdict = Verdict.NOT_YET

    @property
    def scope(self) -> str:
        """What the line is about: tasks, and languages where it is not all of these."""
        return self.where + self.within + self.lacking

    @property
    def lacking(self) -> str:
        """What only one of the two sides has, after a comma; empty: nothing."""
        left_out = self.compared.left_out
        return f", without {listed(list(left_out))}, which only one of the two has" if left_out else ""

    @property
    def shown(self) -> Shown:
        """How its size is told."""
        return self.compared.shown

    @property
    def between(self) -> str:
        """What is compared."""
        return (" / " if self.shown.as_ratio else " − ").join(self.sides)

    @property
    def margin(self) -> float | None:
        """How small a difference should be, where the claim is that it is."""
        return self.shown.margin(self.contrast.margin)

    @property
    def size(self) -> Interval | None:
        """How much better the first is, as it is shown."""
        return self.shown.of_better(self.effect.interval) if self.effect else None


@section(order=10)
def contrasts(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """What the study looks for, and whether it shows."""
    if found := effects(report):
        written = (effect_table(found), language_table(found, report.language_labels), mixed_table(found))
        tables = [table for table in written if table.lines]
        figures = effect_figures(found)
        title = "What the study looks for"
        yield Section(title, claims(found), figures, tables, answer=effect_answer(found))


def effects(report: Report) -> list[Line]:
    """For every contrast the difference over all tasks, then on each; those without rows of both are left out.

    What a contrast comes to over all tasks (on its one task, if it has no other) is a claim of the study, and all of
    these are one family (Holm 1979). What it comes to on each task is a line of a table (Benjamini and Hochberg 1995).
    """
    lines = [line for contrast in report.contrasts for line in _lines(report, contrast)]
    judgements = {True: iter(_verdicts(lines, True)), False: iter(_verdicts(lines, False))}
    return [line._replace(verdict=next(judgements[line.is_claim])) for line in lines]


def _lines(report: Report, contrast: Contrasted) -> list[Line]:
    each = _settings(report, contrast)
    overall = _overall(each)
    compared = overall | each
    over_all = {setting.schedule for setting in overall}
    sides = _in_words(report, contrast.first), _in_words(report, contrast.second)
    languages = [report.labels.get(code, code) for code in contrast.languages]
    named = listed(languages) if len(languages) <= NAMED else counted(len(languages), "language")
    within = f", in {named}" if languages else ""
    every = {score.task for score in report.scores}
    return [
        Line(contrast, setting, _where(setting, compared, every), within, difference, difference.effect,
             setting in overall or setting.schedule not in over_all, sides)
        for setting, difference in compared.items()
    ]  # fmt: skip


def _in_words(report: Report, side: tuple[str, str | None]) -> str:
    encoder, surgery = side
    return " ".join(filter(None, [encoder, report.surgery_name(surgery)]))


def _verdicts(lines: Sequence[Line], claims: bool) -> list[Verdict]:
    own = [line for line in lines if line.is_claim is claims]
    margins = [line.margin for line in own]
    return judged([line.effect for line in own], holm if claims else benjamini_hochberg, margins)


def claims(found: Sequence[Line]) -> list[str]:
    """For every claim, over all tasks (or on the one task there is), what shows and what does not."""
    groups: dict[str, list[Line]] = {}
    for line in (line for line in found if line.is_claim):
        groups.setdefault(line.contrast.claim, []).append(line)
    family = sum(p_of(line.effect, line.margin) is not None for lines in groups.values() for line in lines)
    return [f"{claim}: {'; '.join(_claimed(group, family))}." for claim, group in groups.items()]


def _claimed(lines: Sequence[Line], family: int) -> Iterator[str]:
    """Of one claim, which may be made of several pairs of conditions."""
    firsts = [line.sides[0] for line in lines if line.scope == lines[0].scope]
    for line in lines:
        first, second = line.sides
        named = f"{first} against {second}" if firsts.count(first) > 1 else first
        where = "" if line.scope == ALL_TASKS else f", {line.scope}"
        size = f" ({line.shown.in_words(line.size)})" if line.size else ""
        margin = f" within {line.shown.margin_in_words(line.contrast.margin)}" if line.contrast.margin else ""
        verdict = line.verdict if line.margin else among(line.verdict, line.effect, family)
        yield f"{verdict} for {named}{margin}{where}{size}"


def _settings(report: Report, contrast: Contrasted) -> dict[Setting, Compared]:
    """What is compared in every setting in which both conditions were scored."""
    about = [score for score in report.scores if contrast.is_about(score.task, score.language)]
    first, second = (
        [score for score in about if (score.encoder, score.surgery) == side]
        for side in (contrast.first, contrast.second)
    )
    schedules = dict.fromkeys(score.schedule for score in [*first, *second] if score.seeds) or {None: None}
    a, b = (_by_setting(side, schedules) for side in (first, second))
    return {setting: _compared(report, a[setting], b[setting]) for setting in a if setting in b}


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


def _averaged(compared: Mapping[Setting, Compared], every: Collection[str]) -> str:
    """The tasks that a mean over tasks is of: all of them, or which."""
    tasks = list(dict.fromkeys(setting.task for setting, each in compared.items() if setting.task and _is_mean(each)))
    return ALL_TASKS if len(tasks) == len(every) else f"the mean of {listed(list(map(title_of, tasks)))}"


def _is_mean(compared: Compared) -> bool:
    """Whether means over tasks have it: differences of perplexities are ratios, and no points."""
    return compared.shown.unit in ("share", "correlation")


def _overall(each: Mapping[Setting, Compared]) -> dict[Setting, Compared]:
    """By schedule the mean over tasks whose scores are shares or correlations, where there are several."""
    by_schedule: dict[str | None, dict[str, list[Compared]]] = {}
    for setting, compared in each.items():
        if _is_mean(compared):
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


def _where(setting: Setting, compared: Mapping[Setting, Compared], every: Collection[str]) -> str:
    """The task's title, and the training where there are several; of a mean over tasks those that it is of."""
    same = [other for other in compared if other.task == setting.task]
    parts = [title_of(setting.task) if setting.task else _averaged(compared, every)]
    if len({other.training for other in same}) > 1:
        parts.append(f"trained on {setting.training}")
    if len({other.schedule for other in same}) > 1:
        parts.append(f"schedule {setting.schedule}" if setting.schedule else "everything trained")
    return ", ".join(parts)
