"""What it costs to freeze the first N layers, by language, and whether it goes with how the layers align languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.sections.freezing.best import best_in_words
from babelscope.report.sections.freezing.changes import changes_table
from babelscope.report.sections.freezing.dropout import frozen_dropout
from babelscope.report.sections.freezing.figures import sweep_figures
from babelscope.report.sections.freezing.likeness import likeness_in_words, likeness_table, likenesses
from babelscope.report.sections.freezing.sweeps import sweeps

__all__ = ["freezing", "frozen_dropout"]


@section(order=40)
def freezing(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """Scores by the number of frozen layers, as far as the study declares several."""
    swept = sweeps(report)
    tables = [table for table in (changes_table(swept), likeness_table(report)) if table]
    if figures := sweep_figures(swept):
        yield Section("Freezing the first layers", sweep_findings(report), figures, tables)


def sweep_findings(report: Report) -> list[str]:
    """Which number of frozen layers is best, and the correlation, in words."""
    return [*best_in_words(sweeps(report)), *(likeness_in_words(likeness) for likeness in likenesses(report))]
