"""Languages brought in by translated sentences: their alignments, and what they give a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.sections.brought_in.figures import curves
from babelscope.report.sections.brought_in.gains import gains
from babelscope.report.sections.brought_in.tables import alignment_table, findings, gain_tables


@section("alignment", order=25)
def brought_in(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """All of it, where the study scores an encoder with languages and without."""
    if judged := gains(report, rows):
        tables = [*gain_tables(report, judged), alignment_table(report, rows)]
        yield Section("Languages brought in", findings(report, judged, rows), curves(report, judged), tables)


@section("alignment", order=84)
def brought_in_before(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """How the languages of its encoders were brought in, after the scores, where nothing says what they give."""
    if rows:
        yield Section("Languages brought in", findings(report, [], rows), tables=[alignment_table(report, rows)])
