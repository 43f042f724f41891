"""What it costs to draw some layers anew before tuning: on the language of the training, and on the others.

Muller et al. (2021, section 3) call it Random-Init: where the other languages lose and the source does not, the layers
are what carries a task over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.published import is_published
from babelscope.report.section import Section, section
from babelscope.report.sections.redrawn_layers.figures import reinitialised_figures
from babelscope.report.sections.redrawn_layers.findings import reinitialised_findings
from babelscope.report.sections.redrawn_layers.tables import reinitialised_tables


@section(claims=lambda row: row.kind == "score" and is_published(row), order=50)
def redrawn_layers(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """What it costs to draw some layers anew, as far as the study declares such surgeries."""
    if tables := reinitialised_tables(report):
        yield Section(
            "Layers reinitialised before tuning",
            reinitialised_findings(report),
            list(reinitialised_figures(report)),
            tables,
        )
