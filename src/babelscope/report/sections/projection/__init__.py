"""Words of two languages in the plane, layer by layer, joined with their translations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.figures import Figure
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.sections.layers import layer_figures, layer_table
from babelscope.report.sections.projection.projected import projection_charts
from babelscope.report.sections.projection.shares import is_of_real_words, share_figures, share_table

CAPTION = (
    "Words and their translations, joined, by t-SNE. The titles give the share of words whose nearest neighbour in the "
    "other language is a translation."
)


@section("projection", order=90)
def projection(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """Panels of words, and the shares of words that are nearest to a translation."""
    figures = [Figure(title, CAPTION, chart) for title, chart in projection_charts(report).items()]
    shares = [row for row in rows if row.word is None]
    real = [row for row in shares if is_of_real_words(row)]
    known = [row for row in shares if not is_of_real_words(row)]
    figures += [*layer_figures(report, known), *share_figures(report, real)]
    tables = [layer_table(report, known)] if known else []
    if real:
        tables.append(share_table(report, real))
    if shares:
        yield Section("Words by layer", (), figures, tables)
