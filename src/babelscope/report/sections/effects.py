"""The effects that a study looks for: on every task, and over all tasks together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from babelscope.core.inference import benjamini_hochberg, holm
from babelscope.core.row import Row
from babelscope.core.words import listed
from babelscope.report.judged import Verdict, among, judged, p_of
from babelscope.report.model import Contrasted, Report, Side
from babelscope.report.score import title_of
from babelscope.report.section import Section, section
from babelscope.report.sections.effect_line import Line
from babelscope.report.sections.effect_settings import Compared, Setting, is_mean, over_all, settings
from babelscope.report.sections.effect_tables import effect_table, language_table, mixed_table
from babelscope.report.sections.effects_told import effect_answer, effect_figures
from babelscope.report.words import counted

ALL_TASKS = "all tasks"
NAMED = 3
"""Languages of a claim; more are counted, and the table by language names them."""


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
    Of an unfinished study the claims that have no rows of both yet are of the family, too.
    """
    ahead = report.planned if report.contrasts else None
    lines = [line for contrast in report.contrasts for line in _with_waiting(report, ahead, contrast)]
    claimed = [line for line in lines if line.is_claim]
    family = len(claimed) if report.missing else sum(p_of(line.effect, line.margin) is not None for line in claimed)
    judgements = {True: iter(_verdicts(lines, True, family)), False: iter(_verdicts(lines, False))}
    return [line._replace(verdict=next(judgements[line.is_claim]), family=family) for line in lines]


def _with_waiting(report: Report, ahead: Report | None, contrast: Contrasted) -> list[Line]:
    """The lines of a contrast, and the claims that only the report ahead has.

    What is over all tasks there may be of some of them, or of one, so far.
    """
    lines = _lines(report, contrast)
    if ahead is None:
        return lines
    claims = {line.setting: line for line in _lines(ahead, contrast) if line.is_claim}
    found: set[Setting] = set()
    for place, line in enumerate(lines):
        overall = Setting("", None, line.setting.schedule) if is_mean(line.compared) else line.setting
        claim = line.setting if line.setting in claims else overall
        lines[place] = line._replace(is_claim=line.is_claim and claim in claims)
        found |= {claim} if lines[place].is_claim else set()
    waiting = [line for setting, line in claims.items() if setting not in found]
    return lines + [
        line._replace(compared=line.compared._replace(by_language={}, told=None), effect=None) for line in waiting
    ]


def _lines(report: Report, contrast: Contrasted) -> list[Line]:
    each = settings(report, contrast)
    overall = over_all(each)
    compared = overall | each
    schedules = {setting.schedule for setting in overall}
    sides = _in_words(report, contrast.first), _in_words(report, contrast.second)
    languages = [report.labels.get(code, code) for code in contrast.languages]
    named = listed(languages) if len(languages) <= NAMED else counted(len(languages), "language")
    within = f", in {named}" if languages else ""
    every = {score.task for score in report.scores}
    return [
        Line(contrast, setting, _where(setting, compared, every), within, difference, difference.effect,
             setting in overall or setting.schedule not in schedules, sides)
        for setting, difference in compared.items()
    ]  # fmt: skip


def _in_words(report: Report, side: Side) -> str:
    operated = " ".join(filter(None, [side.encoder, report.surgery_name(side.surgery)]))
    return f"{operated}, schedule {side.schedule}" if side.schedule else operated


def _verdicts(lines: Sequence[Line], claims: bool, family: int = 0) -> list[Verdict]:
    own = [line for line in lines if line.is_claim is claims]
    margins = [line.margin for line in own]
    return judged([line.effect for line in own], holm if claims else benjamini_hochberg, margins, family)


def claims(found: Sequence[Line]) -> list[str]:
    """For every claim, over all tasks (or on the one task there is), what shows and what does not."""
    groups: dict[str, list[Line]] = {}
    for line in (line for line in found if line.is_claim):
        groups.setdefault(line.contrast.claim, []).append(line)
    return [f"{claim}: {'; '.join(_claimed(group))}." for claim, group in groups.items()]


def _claimed(lines: Sequence[Line]) -> Iterator[str]:
    """Of one claim, which may be made of several pairs of conditions."""
    several = len({line.sides[1] for line in lines}) > 1
    for line in lines:
        named = line.against if several else line.sides[0]
        where = "" if line.scope == ALL_TASKS else f", {line.scope}"
        size = f" ({line.shown.in_words(line.size)})" if line.size else ""
        margin = f" within {line.shown.margin_in_words(line.contrast.margin)}" if line.contrast.margin else ""
        verdict = among(line.verdict, p_of(line.effect, line.margin), line.family)
        yield f"{verdict} for {named}{margin}{where}{size}"


def _averaged(compared: Mapping[Setting, Compared], every: Collection[str]) -> str:
    """The tasks that a mean over tasks is of: all of them, or which."""
    tasks = list(dict.fromkeys(setting.task for setting, each in compared.items() if setting.task and is_mean(each)))
    return ALL_TASKS if len(tasks) == len(every) else f"the mean of {listed(list(map(title_of, tasks)))}"


def _where(setting: Setting, compared: Mapping[Setting, Compared], every: Collection[str]) -> str:
    """The task's title, and the training where there are several; of a mean over tasks those that it is of."""
    same = [other for other in compared if other.task == setting.task]
    parts = [title_of(setting.task) if setting.task else _averaged(compared, every)]
    if len({other.training for other in same}) > 1:
        parts.append(f"trained on {setting.training}")
    if len({other.schedule for other in same}) > 1:
        parts.append(f"schedule {setting.schedule}" if setting.schedule else "everything trained")
    return ", ".join(parts)
