"""Scores, a section a task and measure: by language and condition, and against the same encoder untrained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from babelscope.core.row import Row
from babelscope.core.scores import MEASURES
from babelscope.report.cautions import cautions
from babelscope.report.figures import Figure
from babelscope.report.kinds import is_companion, is_score
from babelscope.report.model import Report
from babelscope.report.score import Score, section_title, title_of
from babelscope.report.section import Section, section
from babelscope.report.sections.effect_tables import UNTRAINED
from babelscope.report.sections.scores.answer import answer
from babelscope.report.sections.scores.figures import difference_chart, score_chart
from babelscope.report.sections.scores.findings import differences, findings
from babelscope.report.sections.scores.tables import difference_table, glance_table, score_table
from babelscope.report.shown import Shown

SCORE_CAPTION = "{mean} over seeds{interval}; every seed a small ring; what has no seed is a tick.{cut}"
INTERVAL = " with its 95% interval, over seeds and, as far as they are known, test sentences"
CUT = " An interval that ends in an arrow is cut: no score is beyond."
DIFFERENCE_CAPTION = (
    "{difference} with its 95% interval, paired by the seeds that both ran, over these and, as far as they are known, "
    "test sentences. “Shows”: at 5%, corrected for the number of differences (Benjamini and Hochberg). "
) + UNTRAINED
FEW_SEEDS_CAPTION = "{difference}, paired by the seeds that both ran: too few for intervals. " + UNTRAINED


@section(claims=lambda row: is_score(row) or is_companion(row), order=80)
def scores(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """One section a task and measure."""
    for each in report.by_task:
        written = _section(report, each, alone=len(report.by_task) == 1)
        yield replace(written, rows=[row for row in rows if row.task == each[0].task])


def _section(report: Report, scores: Sequence[Score], *, alone: bool) -> Section:
    """The file of a chart is named after the task, where there are several; of one task it is the report's own."""
    task = "" if alone else scores[0].task
    compared = differences(scores)
    averaged, as_ratio = MEASURES[scores[0].measure].averaged, Shown.of(scores[0]).as_ratio
    known = any(score.interval.low is not None for score in scores)
    of_interval = {"interval": INTERVAL, "cut": CUT} if known else {"interval": "", "cut": ""}
    caption = SCORE_CAPTION.format(mean=averaged.capitalize(), **of_interval)
    about = {"task": title_of(scores[0].task)}
    figures = [Figure("By language", caption, score_chart(report, scores), task, about)]
    tables = [table for table in (glance_table(report, scores), score_table(scores)) if table]
    if compared:
        title = "Against the same encoder untrained"
        name = "-".join(filter(None, [task, "against-untrained"]))
        form = DIFFERENCE_CAPTION if any(each.interval.low is not None for each in compared) else FEW_SEEDS_CAPTION
        caption = form.format(difference=f"{'Ratio' if as_ratio else 'Difference'} of the {averaged}s")
        figures.append(Figure(title, caption, difference_chart(report, compared), name, about))
        tables.append(difference_table(compared))
    said, warnings = answer(scores, compared), cautions(report, scores)
    return Section(section_title(scores), findings(scores), figures, tables, answer=said, warnings=warnings)
