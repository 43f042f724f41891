"""How many real words are nearest to a translation, layer by layer, with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import altair as alt
import pandas as pd

from babelscope.core.row import Row
from babelscope.corpora.parallel_words import ALIGNED_BY
from babelscope.report.figures import Chart, Figure, look_of, within
from babelscope.report.model import Report
from babelscope.report.score import scale
from babelscope.report.tables import Cell, Table, bounds_cell, cut, number_cell

CAPTION = (
    "Share of aligned words whose nearest neighbour in the other language is a translation; the bands are 95% BCa "
    "bootstrap intervals over sentences. Words that an encoder’s layer aligned are near each other in that layer by "
    "construction: it is favoured, and so are those beside it."
)


def is_of_real_words(row: Row) -> bool:
    """Whether it says by what its words are aligned; in the world it is known what translates."""
    return ALIGNED_BY in (row.dataset or "")


def share_figures(report: Report, rows: Sequence[Row]) -> list[Figure]:
    """A chart an encoder, a line for each data set."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[report.start(row)].append(row)
    return [Figure(f"Words nearest to a translation, {name}", CAPTION, _chart(group)) for name, group in groups.items()]


def share_table(report: Report, rows: Sequence[Row]) -> Table:
    """A line for each encoder, data set and layer."""
    lines = []
    for row in rows:
        bounds = None if row.low is None or row.high is None else (row.low, row.high)
        factor, _ = scale(row.unit)
        named = (report.start(row), *(row.dataset or "").split(ALIGNED_BY))
        value = number_cell(factor * row.value, ".1f")
        lines.append([*map(Cell, named), number_cell(row.layer, "d"), value, bounds_cell(bounds, factor)])
    headers = ["Encoder", "Words of", "Aligned by", "Layer", "Nearest to a translation (%)", "95% over sentences"]
    note = "0 is the embeddings. No interval: every sentence says the same, or there is one alone."
    return cut(Table("Words nearest to a translation", headers, lines, note))


def _chart(rows: Sequence[Row]) -> Chart:
    factor, unit = scale(rows[0].unit)
    table = pd.DataFrame(
        {"words": row.dataset, "layer": row.layer, "value": factor * row.value,
         "low": None if row.low is None else factor * row.low,
         "high": None if row.high is None else factor * row.high}
        for row in rows
    )  # fmt: skip
    names = list(dict.fromkeys(table["words"]))
    x = alt.X("layer:Q", title="Layer", axis=alt.Axis(values=sorted(set(table["layer"])), format="~s", grid=False))
    title = unit or None
    limits = within(rows[0].unit, table[["value", "low", "high"]].to_numpy(dtype=float).ravel())
    base = alt.Chart(table).encode(x=x, **look_of("words:N", names, set(names), lines=True))
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=title, scale=limits), y2="high:Q")
    numbers = [alt.Tooltip(f"{name}:Q", format=".1f") for name in ("value", "low", "high")]
    line = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=20)).encode(
        y=alt.Y("value:Q", title=title, scale=limits), tooltip=["words", "layer", *numbers]
    )
    return alt.layer(band, line).properties(width="container", height=240)
