"""What a study repeats of a published one but for data or results that cannot be had, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table


@section(order=980)
def left_out(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """As the study declares it."""
    if report.rows and report.left_out:
        lines = [[Cell(what), Cell(reason)] for what, reason in report.left_out.items()]
        yield Section("Left out", tables=[Table("What is not in this study", ["What", "Reason"], lines)])
