"""Interpolated models: scores on lines and planes between tuned models, and angles between directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.sections.between.figures import between_figures
from babelscope.report.sections.between.findings import between_findings
from babelscope.report.sections.between.lines import Between
from babelscope.report.sections.between.tables import between_tables


@section("interpolation", "angle", order=70)
def interpolated(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """All of it."""
    between = Between.of(report)
    figures, tables = list(between_figures(report, between)), between_tables(report, between)
    if figures or tables:
        yield Section("Interpolated models", between_findings(report, between), figures, tables)
