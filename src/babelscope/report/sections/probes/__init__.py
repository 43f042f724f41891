"""What was measured while models were trained: perplexities, scores, and how far layers moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.sections.probes.figures import probe_figures
from babelscope.report.sections.probes.sizes import text_sizes
from babelscope.report.sections.probes.tables import probe_findings, probe_tables
from babelscope.report.sections.probes.techniques import techniques

__all__ = ["probes", "techniques", "text_sizes"]


@section("probe", order=30)
def probes(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """All of it."""
    if figures := probe_figures(report):
        yield Section("While training", probe_findings(report), figures, probe_tables(report))
