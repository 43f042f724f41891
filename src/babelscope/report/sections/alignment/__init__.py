"""How alike languages are in each layer, before and after tuning, and whether that goes with transfer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.sections.alignment.alignments import correlations, is_similarity
from babelscope.report.sections.alignment.figures import aligned_figures
from babelscope.report.sections.alignment.tables import aligned_findings, aligned_tables


def _is_shown(row: Row) -> bool:
    """Operated encoders are left to the section of single layers."""
    return (is_similarity(row) and row.surgery is None) or row.kind == "correlation"


@section(claims=_is_shown, order=60)
def alignment(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """All of it."""
    related = correlations(report)  # bootstrapped, so computed once
    figures, tables = aligned_figures(report, related), aligned_tables(report, related)
    if figures:
        yield Section("Where languages are alike", aligned_findings(report, related), figures, tables)
