"""Published numbers that stand beside a study's own in one section alone: rows whose split is `published`.

Those whose split is `test` stand in every table and chart of scores.
"""

from __future__ import annotations

from dataclasses import replace

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.score import Score

SPLIT = "published"
NAMED = "published: "
"""What the names of published encoders begin with."""


def is_published(row: Row) -> bool:
    """Whether the row is one of these."""
    return row.split == SPLIT


def with_published(report: Report) -> list[Score]:
    """The scores of a report, then the published ones; a row of these without a score is left out."""
    rows = [row.labelled(split="test") for row in report.rows if is_published(row)]
    return [*report.scores, *replace(report, rows=rows).scores]
