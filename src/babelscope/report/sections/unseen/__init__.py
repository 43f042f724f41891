"""Languages that the encoder has never seen: what each recipe gains, how sure that is, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.sections.unseen.figures import unseen_figures
from babelscope.report.sections.unseen.findings import unseen_findings
from babelscope.report.sections.unseen.gains import gains, is_gain
from babelscope.report.sections.unseen.tables import unseen_tables


@section(claims=is_gain, order=20)
def comparisons(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """Gains sentence by sentence, and the verdicts that they make."""
    if compared := gains(report):
        parts = unseen_findings(report, compared), unseen_figures(report, compared), unseen_tables(report, compared)
        yield Section("Models against each other, sentence by sentence", *parts)
