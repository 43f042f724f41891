"""The scores of an unfinished study as its plan has them: what they are going to be of, though not their values."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.report.kinds import Main, main_measure
from babelscope.steps.evaluate import Baseline, Evaluate
from babelscope.steps.plan import Plan

SCORE = 1.0
"""Of every evaluation: nothing but which ones there are going to be is read of these rows."""


def planned_rows(plan: Plan, main: Main) -> Sequence[Row]:
    """A score of every evaluation."""
    steps = (step for step in plan.steps.values() if isinstance(step, Evaluate | Baseline))
    return list(dict.fromkeys(_row(step, main) for step in steps))


def _row(step: Evaluate | Baseline, main: Main) -> Row:
    row = Row("", SCORE, kind="score").labelled(**step.labels)
    measure = main_measure(row, main)
    return row.labelled(measure=measure, unit=measure_of(measure).unit)
