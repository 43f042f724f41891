"""Charts (Vega-Lite through altair). Colours are those of Okabe and Ito (2008), distinct for every eye."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt
import pandas as pd

from babelscope.report.findings import Difference
from babelscope.report.model import SCORES, Report, Score, is_curve, scale

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8c8c8c"]
LANE = 11
"""Height of one condition's line, in pixels."""

Chart = alt.LayerChart | alt.FacetChart
Width = int | str
"""Pixels, or "container" for the width of the page."""


def score_chart(scores: Sequence[Score], conditions: Sequence[str], width: Width = "container") -> Chart:
    """One line a place and a mark a condition: mean over seeds, its 95% t interval, and every seed."""
    factor, unit = scale(scores[0].unit)
    title = f"{SCORES[scores[0].measure]} ({unit})" if unit else SCORES[scores[0].measure]
    means = pd.DataFrame([_mean_record(score, factor) for score in scores])
    seeds = pd.DataFrame([_labels(s) | {"seed": k, "value": v * factor} for s in scores for k, v in s.by_seed.items()])
    shared: dict[str, Any] = {
        "y": _places(scores),
        "yOffset": alt.YOffset("condition:N", sort=list(conditions)),
        "color": _colour(conditions),
    }
    chosen = alt.selection_point(fields=["condition"], bind="legend")
    x = alt.X("mean:Q", title=title, scale=alt.Scale(zero=False, nice=True))
    points = alt.Chart(seeds).mark_circle(size=14).encode(
        x="value:Q", opacity=alt.condition(chosen, alt.value(0.35), alt.value(0.05)),
        tooltip=["place", "condition", "seed", alt.Tooltip("value", format=".2f")], **shared,
    )  # fmt: skip
    bars = _bars(means, chosen, shared)
    marks = alt.Chart(means).mark_point(filled=True, size=46).encode(
        x=x, opacity=_faded(chosen), tooltip=_tooltip(means), **shared
    ).add_params(chosen)  # fmt: skip
    return _sized(alt.layer(bars, points, marks), means, len(conditions), width)


def difference_chart(found: Sequence[Difference], width: Width = "container") -> Chart:
    """Every encoder minus itself untrained, with the 95% interval of the difference."""
    factor, unit = scale(found[0].score.unit)
    records = [
        _labels(one.score) | _bounds(one.interval, factor) | {"verdict": one.verdict, "n": one.interval.n}
        for one in found
    ]
    table = pd.DataFrame(records)
    conditions = list(dict.fromkeys(table["condition"]))
    shared: dict[str, Any] = {
        "y": _places([one.score for one in found]),
        "yOffset": alt.YOffset("condition:N", sort=conditions),
        "color": _colour(conditions),
    }
    title = f"Pretrained minus untrained ({'points' if unit == '%' else unit or 'difference'})"
    chosen = alt.selection_point(fields=["condition"], bind="legend")
    zero = alt.Chart(pd.DataFrame({"mean": [0]})).mark_rule(strokeDash=[3, 3]).encode(x="mean:Q")
    marks = alt.Chart(table).mark_point(filled=True, size=46).encode(
        x=alt.X("mean:Q", title=title), opacity=_faded(chosen), tooltip=_tooltip(table), **shared
    ).add_params(chosen)  # fmt: skip
    return _sized(alt.layer(zero, _bars(table, chosen, shared), marks), table, len(conditions), width)


def curve_charts(report: Report, width: Width = "container") -> dict[str, Chart]:
    """Learning curves by title: mean over seeds, and every run faintly, against the step."""
    rows = [row for row in report.rows if is_curve(row)]
    groups = dict.fromkeys((row.task or "", row.split or "", row.measure, row.unit) for row in rows)
    charts = {}
    for task, split, measure, unit in groups:
        factor, symbol = scale(unit)
        chosen = [
            row for row in rows if (row.task or "", row.split, row.measure, row.unit) == (task, split, measure, unit)
        ]
        table = pd.DataFrame(
            {
                "condition": report.condition(row),
                "run": f"{row.treebank or row.language or ''} {row.seed}",
                "step": row.step,
                "value": row.value * factor,
            }
            for row in chosen
        )
        title = f"{task} {split} {measure}".strip()
        charts[title] = _curve(table, f"{measure} ({symbol})" if symbol else measure, width)
    return charts


def _curve(table: pd.DataFrame, title: str, width: Width) -> Chart:
    colour = _colour(list(dict.fromkeys(table["condition"])))
    base = alt.Chart(table).encode(x=alt.X("step:Q", title="Step"), color=colour)
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=False))
    runs = base.mark_line(opacity=0.25, strokeWidth=1).encode(y=y, detail="run:N")
    tooltip = ["condition", "step", alt.Tooltip("mean(value):Q", format=".3f", title="mean over runs")]
    means = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18)).encode(y="mean(value):Q", tooltip=tooltip)
    return alt.layer(runs, means).properties(width=width, height=220)


def _bars(table: pd.DataFrame, chosen: alt.Parameter, shared: dict[str, Any]) -> alt.Chart:
    known = table.dropna(subset=["low", "high"])
    return alt.Chart(known).mark_rule(strokeWidth=1.5).encode(
        x="low:Q", x2="high:Q", opacity=_faded(chosen), tooltip=_tooltip(table), **shared
    )  # fmt: skip


def _tooltip(table: pd.DataFrame) -> list[alt.Tooltip]:
    words = {"n": "seeds", "low": "95% low", "high": "95% high"}
    numbers = ("mean", "low", "high", "sd")
    return [
        alt.Tooltip(name, title=words.get(name, name), format=".2f" if name in numbers else alt.Undefined)
        for name in table.columns
    ]


def _mean_record(score: Score, factor: float) -> dict[str, Any]:
    return _labels(score) | _bounds(score.interval, factor) | {"n": len(score.by_seed)}


def _labels(score: Score) -> dict[str, Any]:
    return {"place": score.place, "condition": score.condition}


def _bounds(interval: Any, factor: float) -> dict[str, float | None]:
    values = {name: getattr(interval, name) for name in ("mean", "low", "high", "sd")}
    return {name: None if value is None else value * factor for name, value in values.items()}


def _places(scores: Iterable[Score]) -> alt.Y:
    return alt.Y("place:N", title=None, sort=list(dict.fromkeys(score.place for score in scores)))


def _colour(conditions: Sequence[str]) -> alt.Color:
    scheme = alt.Scale(domain=list(conditions), range=[PALETTE[i % len(PALETTE)] for i in range(len(conditions))])
    legend = alt.Legend(title=None, orient="top", direction="vertical", labelLimit=600, symbolType="circle")
    return alt.Color("condition:N", scale=scheme, legend=legend)


def _faded(chosen: alt.Parameter) -> Any:
    return alt.condition(chosen, alt.value(1.0), alt.value(0.12))


def _sized(chart: Chart, table: pd.DataFrame, lanes: int, width: Width) -> Chart:
    height = table["place"].nunique() * max(20, lanes * LANE + 8)
    return chart.properties(width=width, height=height)
