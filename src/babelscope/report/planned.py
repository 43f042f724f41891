"""The report of an unfinished study as its plan has it: what it is going to compare, though not with what scores."""

from __future__ import annotations

from dataclasses import replace

from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.report.kinds import main_measure
from babelscope.report.model import Report
from babelscope.steps.evaluate import Baseline, Evaluate

SCORE = 1.0
"""Of every evaluation: nothing but which ones there are going to be is read of these rows."""


def planned(report: Report) -> Report | None:
    """With a score of every evaluation; None of a finished study, and of one whose plan is not known."""
    if not report.missing or report.used is None:
        return None
    steps = (step for step in report.used.plan.steps.values() if isinstance(step, Evaluate | Baseline))
    return replace(report, rows=list(dict.fromkeys(_row(report, step) for step in steps)))


def _row(report: Report, step: Evaluate | Baseline) -> Row:
    row = Row("", SCORE, kind="score").labelled(**step.labels)
    measure = main_measure(row, report.main)
    return row.labelled(measure=measure, unit=measure_of(measure).unit)
