"""Charts (Vega-Lite through altair). Colours are those of Okabe and Ito (2008), distinct for every eye."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.report.aligned import is_similarity
from babelscope.report.findings import Difference
from babelscope.report.kinds import SCORES, is_curve
from babelscope.report.model import Report, Score, points_of, scale

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8c8c8c"]
SHAPES = ["circle", "square", "triangle-up", "diamond"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]
"""Each round of the palette has its own."""
MOST_POINTS = 5000
"""Of single runs in a chart; where there are more, it shows means alone, so that the page stays light."""
MOST_DOTS = 20
"""On a line; more of them would hide its dashes."""
LANE = 11
"""Height of one condition's line, in pixels."""

alt.data_transformers.disable_max_rows()  # a chart that holds many means is not an error

Chart = alt.LayerChart | alt.FacetChart
Width = int | str
"""Pixels, or "container" for the width of the page."""

_INK = {"labelColor": "currentColor", "titleColor": "currentColor", "titleFontWeight": "normal"}
CONFIG = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "axis": _INK
    | {"domain": False, "ticks": False, "gridColor": "currentColor", "gridOpacity": 0.13, "labelPadding": 6},
    "legend": _INK,
    "view": {"stroke": None},
    "range": {"category": PALETTE},
    "rule": {"color": "currentColor"},
}
"""Text takes the colour of the page around it, so that dark mode and print need nothing more."""


@dataclass(frozen=True)
class Figure:
    """A chart, what it shows, and how to read it."""

    title: str
    caption: str
    chart: Chart


def score_chart(report: Report, scores: Sequence[Score], width: Width = "container") -> Chart:
    """A band a place: every condition's mean over seeds, its 95% t interval and single seeds; baselines as ticks."""
    factor, unit = scale(scores[0].unit)
    measure = SCORES[scores[0].measure].title
    means = pd.DataFrame([_mean_record(s.interval, factor, s) | {"seeds": s.seeds} for s in scores])
    seeds = pd.DataFrame([_labels(s) | {"seed": k, "mean": v * factor} for s in scores for k, v in s.by_seed.items()])
    plot = _DotPlot.of(report, scores, f"{measure} ({unit})" if unit else measure)
    seeded = means["seeds"] > 0
    layers: list[alt.Chart] = []
    if seeded.any():
        layers += [plot.seeds(seeds[seeds["condition"].isin(plot.lanes)]), *plot.means(means[seeded])]
    if not seeded.all():
        layers += [plot.ticks(means[~seeded])]
    return plot.sized(layers, width)


def difference_chart(report: Report, found: Sequence[Difference], width: Width = "container") -> Chart:
    """A band a place: every encoder minus itself untrained, with the 95% interval of the difference."""
    factor, unit = scale(found[0].score.unit)
    table = pd.DataFrame([_mean_record(d.interval, factor, d.score) | {"verdict": d.verdict} for d in found])
    unit = points_of(unit)
    plot = _DotPlot.of(report, [one.score for one in found], f"Gain over untrained{f' ({unit})' if unit else ''}")
    zero = alt.Chart(pd.DataFrame({"mean": [0]})).mark_rule(strokeDash=[3, 3], opacity=0.6).encode(x="mean:Q")
    return plot.sized([zero, *plot.means(table)], width)


def curve_charts(report: Report, width: Width = "container") -> dict[str, Chart]:
    """Learning curves by title, for every task, split and measure."""
    rows = [row for row in report.rows if is_curve(row)]
    several = len({row.task for row in rows}) > 1
    groups: dict[str, list[Row]] = {}
    for row in rows:
        measure = SCORES[row.measure].title if row.measure in SCORES else row.measure.capitalize()
        title = f"{measure} on {row.split}"
        groups.setdefault(f"{title}, {row.task}" if several else title, []).append(row)
    return {title: _line_chart(report, group, "step", width) for title, group in groups.items()}


def layer_charts(report: Report, width: Width = "container") -> dict[str, Chart]:
    """Measures of single layers by title, for every measure and place."""
    groups: dict[str, list[Row]] = {}
    for row in report.rows:
        if row.layer is not None and row.step is None and not is_similarity(row):
            place = report.place(row)
            groups.setdefault(f"{row.measure.capitalize()}{f', {place}' if place else ''}", []).append(row)
    return {title: _line_chart(report, group, "layer", width) for title, group in groups.items()}


@dataclass(frozen=True)
class _DotPlot:
    """What the layers of a plot with a band a place share. `lanes` are the conditions that have seeds."""

    places: list[str]
    lanes: list[str]
    look: dict[str, Any]
    title: str
    chosen: alt.Parameter

    @classmethod
    def of(cls, report: Report, scores: Sequence[Score], title: str) -> _DotPlot:
        lanes = list(dict.fromkeys(score.condition for score in scores if score.seeds))
        look = look_of("condition:N", report.conditions, {score.condition for score in scores})
        chosen = alt.selection_point(name="chosen", fields=["condition"], bind="legend")
        return cls(list(dict.fromkeys(score.place for score in scores)), lanes, look, title, chosen)

    def seeds(self, table: pd.DataFrame) -> alt.Chart:
        return self._lanes(alt.Chart(table).mark_point(size=22, strokeWidth=1), table, 0.5).encode(**self.look)

    def means(self, table: pd.DataFrame) -> list[alt.Chart]:
        known = table.dropna(subset=["low", "high"])
        bars = self._lanes(alt.Chart(known).mark_rule(strokeWidth=1.5), table).encode(x="low:Q", x2="high:Q")
        marks = self._lanes(alt.Chart(table).mark_point(filled=True, size=50), table).encode(**self.look)
        return [bars, marks.add_params(self.chosen)]

    def ticks(self, table: pd.DataFrame) -> alt.Chart:
        height = LANE * max(len(self.lanes), 1)
        return self._places(
            alt.Chart(table).mark_tick(thickness=2.5, size=height), table[["place", "condition", "mean"]]
        )

    def sized(self, layers: Sequence[alt.Chart], width: Width) -> Chart:
        height = len(self.places) * max(22, len(self.lanes) * LANE + 12)
        return alt.layer(*layers).properties(width=width, height=height)

    def _lanes(self, chart: alt.Chart, table: pd.DataFrame, shown: float = 1.0) -> alt.Chart:
        return self._places(chart, table, shown).encode(yOffset=alt.YOffset("condition:N", sort=self.lanes))

    def _places(self, chart: alt.Chart, table: pd.DataFrame, shown: float = 1.0) -> alt.Chart:
        axis = alt.Axis(grid=True, tickBand="extent", labelLimit=240)
        return chart.encode(
            x=alt.X("mean:Q", title=self.title, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=6)),
            y=alt.Y("place:N", title=None, sort=self.places, axis=axis),
            color=self.look["color"],
            opacity=alt.condition(self.chosen, alt.value(shown), alt.value(0.1)),
            tooltip=_tooltip(table),
        )


def _line_chart(report: Report, rows: Sequence[Row], along: str, width: Width) -> Chart:
    """Mean over runs, and every run faintly, against the column `along`."""
    factor, unit = scale(rows[0].unit)
    table = pd.DataFrame(
        {"condition": report.condition(row), "run": f"{row.key} {row.dataset or row.language} {row.seed}",
         along: getattr(row, along), "value": row.value * factor}
        for row in rows
    )  # fmt: skip
    means = table.groupby(["condition", along], as_index=False, sort=False)["value"].mean()
    ticks = sorted(set(table[along])) if along == "layer" else alt.Undefined
    x = alt.X(f"{along}:Q", title=along.capitalize(), axis=alt.Axis(values=ticks, format="~s", grid=False))
    y = alt.Y("value:Q", title=unit or None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6))
    look = look_of("condition:N", report.conditions, set(table["condition"]), lines=True)
    tooltip = ["condition", along, alt.Tooltip("value:Q", format=".3f", title="mean over runs")]
    point = alt.OverlayMarkDef(size=20) if means[along].nunique() <= MOST_DOTS else False
    lines = [alt.Chart(means).mark_line(strokeWidth=2, point=point).encode(tooltip=tooltip, x=x, y=y)]
    if len(table) <= MOST_POINTS:
        lines.insert(0, alt.Chart(table).mark_line(opacity=0.25, strokeWidth=1).encode(x=x, y=y, detail="run:N"))
    return alt.layer(*(line.encode(**look) for line in lines)).properties(width=width, height=220)


def _mean_record(interval: Interval, factor: float, score: Score) -> dict[str, Any]:
    values = {name: getattr(interval, name) for name in ("mean", "low", "high", "sd")}
    return _labels(score) | {name: None if value is None else value * factor for name, value in values.items()}


def _labels(score: Score) -> dict[str, Any]:
    return {"place": score.place, "condition": score.condition}


def _tooltip(table: pd.DataFrame) -> list[alt.Tooltip]:
    words = {"place": "language", "low": "95% low", "high": "95% high"}
    numbers = ("mean", "low", "high", "sd")
    return [
        alt.Tooltip(f"{name}:Q", title=words.get(name, name), format=".2f")
        if name in numbers
        else alt.Tooltip(f"{name}:{'Q' if name == 'seeds' else 'N'}", title=words.get(name, name))
        for name in table.columns
    ]


def look_of(field: str, names: Sequence[str], shown: AbstractSet[str], *, lines: bool = False) -> dict[str, Any]:
    """By channel, what tells names apart: colour, and where there are more names than colours, shape or dash.

    Every name keeps its look in all charts of a report; the legend has those shown.
    """
    places = [i for i, name in enumerate(names) if name in shown]
    rounds = [i // len(PALETTE) for i in places]
    symbol = ("stroke" if lines else alt.Undefined) if any(rounds) else "circle"
    legend = alt.Legend(
        title=None,
        orient="top",
        direction="vertical",
        labelLimit=400,
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
