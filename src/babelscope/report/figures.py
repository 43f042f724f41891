"""Charts (Vega-Lite through altair). Colours are those of Okabe and Ito (2008), distinct for every eye."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, Literal

import altair as alt
import pandas as pd

from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.report.model import Report
from babelscope.report.score import BOUNDS, scale

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8c8c8c"]
SHAPES = ["circle", "square", "triangle-up", "diamond"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]
"""Each round of the palette has its own."""
MOST_POINTS = 5000
"""Of single runs in a chart; where there are more, it shows means alone, so that the page stays light."""
MOST_DOTS = 20
"""On a line; more of them would hide its dashes."""
MOST_NAMES = 12
"""Above a chart; a longer legend is below it, so that the chart comes first."""

alt.data_transformers.disable_max_rows()  # a chart that holds many means is not an error

Chart = alt.LayerChart | alt.FacetChart

_INK = {"labelColor": "currentColor", "titleColor": "currentColor", "titleFontWeight": "normal"}
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "axis": _INK
    | {"domain": False, "ticks": False, "gridColor": "currentColor", "gridOpacity": 0.13, "labelPadding": 6},
    "axisX": {"labelFlush": False, "labelSeparation": 8},
    "legend": _INK,
    "view": {"stroke": None},
    "range": {"category": PALETTE},
    "rule": {"color": "currentColor"},
}
"""Text takes the colour of the page around it, so that dark mode and print need nothing more."""
FIXED = CONFIG | {
    "font": "Arial, Liberation Sans, Helvetica, sans-serif",
    "padding": {"left": 40, "right": 8, "top": 5, "bottom": 5},
}
"""Of a chart that is laid out before anyone sees it: fonts of the same widths, and room for a wider one."""


@dataclass(frozen=True)
class Figure:
    """A chart, what it shows, and how to read it."""

    title: str
    caption: str
    chart: Chart
    name: str | None = None
    """What follows the report's name in the name of its file; None: the title."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Filter of the page -> what all of the chart is of, as far as its records do not say it: a task, a language."""


def svg(figure: Figure, *, width: int = 520) -> str:
    """The chart as SVG for a page without scripts, in the page's own colour of text."""
    fits = getattr(figure.chart, "width", None) == "container"
    chart = figure.chart.properties(width=width) if fits else figure.chart.copy()
    chart.config = FIXED
    drawn = StringIO()
    chart.save(drawn, format="svg")
    return drawn.getvalue()


def line_chart(
    report: Report, rows: Sequence[Row], along: Literal["step", "layer"], averaged: Sequence[Row] = ()
) -> Chart:
    """Mean over runs, where all of a condition's are known, and every run faintly; a line a condition.

    The mean is of the rows `averaged` alone, if there are any.
    """
    _, unit = scale(rows[0].unit)
    table = _runs(report, rows, along)
    if table["language"].nunique() < 2:
        del table["language"]
    measure = measure_of(rows[0].measure)
    limits = within(rows[0].unit, table["value"])
    meant = _runs(report, averaged, along) if averaged else table
    whole = meant.groupby("condition")["run"].nunique()
    points = meant.groupby(["condition", along], as_index=False, sort=False)
    means = points.agg(value=("value", measure.mean), runs=("run", "nunique"))
    of_all = means["runs"] == means["condition"].map(whole)
    means = means[of_all | ~of_all.groupby(means["condition"]).transform("any")].drop(columns="runs")
    ticks = sorted(set(table[along])) if along == "layer" else alt.Undefined
    x = alt.X(f"{along}:Q", title=along.capitalize(), axis=alt.Axis(values=ticks, format="~s", grid=False))
    y = alt.Y("value:Q", title=unit or None, scale=limits, axis=alt.Axis(tickCount=6))
    look = look_of("condition:N", report.conditions, set(table["condition"]), lines=True)
    tooltip = ["condition", along, alt.Tooltip("value:Q", format=".3f", title=f"{measure.averaged} over runs")]
    point = alt.OverlayMarkDef(size=20) if means[along].nunique() <= MOST_DOTS else False
    lines = [alt.Chart(means).mark_line(strokeWidth=2, point=point).encode(tooltip=tooltip, x=x, y=y)]
    if len(table) <= MOST_POINTS:
        lines.insert(0, alt.Chart(table).mark_line(opacity=0.25, strokeWidth=1).encode(x=x, y=y, detail="run:N"))
    return alt.layer(*(line.encode(**look) for line in lines)).properties(width="container", height=220)


def _runs(report: Report, rows: Sequence[Row], along: Literal["step", "layer"]) -> pd.DataFrame:
    factor, _ = scale(rows[0].unit)
    runs: dict[tuple[object, ...], int] = {}
    return pd.DataFrame(
        {"condition": report.condition(row), "seed": row.seed, along: getattr(row, along), "value": row.value * factor,
         "run": runs.setdefault((row.key, row.dataset or row.language, row.seed), len(runs)),
         "language": report.labels.get(row.language or "", row.language)}
        for row in rows
    )  # fmt: skip


def within(unit: str, values: Iterable[float | None], *, differences: bool = False) -> alt.Scale:
    """The scale of an axis that holds the values, as they are drawn, and ends where no score of the unit can be."""
    factor = scale(unit)[0]
    lowest, highest = BOUNDS.get(unit, (-math.inf, math.inf))
    if differences:
        lowest, highest = lowest - highest, highest - lowest
    drawn = [value for value in values if value is not None and math.isfinite(value)]
    if not drawn or math.isinf(highest):
        return alt.Scale(zero=False)
    ends = [min(max(end, factor * lowest), factor * highest) for end in (min(drawn), max(drawn))]
    if ends[0] == ends[1]:
        margin = 0.01 * factor
        ends = [max(ends[0] - margin, factor * lowest), min(ends[1] + margin, factor * highest)]
    return alt.Scale(domain=ends, nice=True, zero=False)  # nice ends are multiples of what the bounds are, too


def look_of(field: str, names: Sequence[str], shown: AbstractSet[str], *, lines: bool = False) -> dict[str, Any]:
    """By channel, what tells names apart: colour, and where there are more names than colours, shape or dash.

    Every name keeps its look in all charts of a report; the legend has those shown.
    """
    places = [i for i, name in enumerate(names) if name in shown]
    rounds = [i // len(PALETTE) for i in places]
    symbol = ("stroke" if lines else alt.Undefined) if any(rounds) else "circle"
    legend = alt.Legend(
        title=None,
        orient="top" if len(places) <= MOST_NAMES else "bottom",
        direction="vertical",
        labelLimit=400,
        symbolLimit=0,
        symbolType=symbol,
        symbolOpacity=1,
        symbolSize=300 if symbol == "stroke" else 60,
    )

    def scaled(values: Sequence[Any]) -> dict[str, Any]:
        return {"scale": alt.Scale(domain=[names[i] for i in places], range=values), "legend": legend}

    look: dict[str, Any] = {"color": alt.Color(field, **scaled([PALETTE[i % len(PALETTE)] for i in places]))}
    if any(rounds) and lines:
        look["strokeDash"] = alt.StrokeDash(field, **scaled([DASHES[k % len(DASHES)] for k in rounds]))
    elif any(rounds):
        look["shape"] = alt.Shape(field, **scaled([SHAPES[k % len(SHAPES)] for k in rounds]))
    return look
