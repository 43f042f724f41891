"""Charts and tables of what was measured during training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from babelscope.report.figures import PALETTE, Chart
from babelscope.report.model import Report
from babelscope.report.probes import (
    CONTROL,
    LOSSES,
    TARGET,
    Compromise,
    Crossing,
    best_within,
    compromises,
    crossings,
    is_probe,
    pareto_front,
    perplexities,
    trained,
)  # fmt: skip
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.statistics import Interval, student_t_interval

_PANEL = 250
"""Width of a small chart, in pixels."""


def probe_charts(report: Report) -> dict[str, Chart]:
    """Charts by title: perplexities, distances and likeness of layers over steps, and the compromises."""
    charts: dict[str, Chart] = {}
    if trained(report):
        charts["Perplexity while one language is learned"] = _perplexity_chart(report)
        charts["Perplexity of the target against what the control loses"] = _compromise_chart(compromises(report))
    layered = [row for row in report.rows if is_probe(row) and row.layer is not None]
    for measure in dict.fromkeys(row.measure for row in layered):
        table = pd.DataFrame(
            {"condition": report.condition(row), "layer": row.layer, "step": row.step, "value": row.value}
            for row in layered
            if row.measure == measure
        )
        charts[f"{measure[0].upper()}{measure[1:]}, by layer"] = _layer_chart(table)
    return charts


def probe_tables(report: Report) -> list[Table]:
    """The techniques, where curves cross, and the best compromises."""
    found = compromises(report)
    tables = [_technique_table(report)] if perplexities(report) else []
    if found:
        tables += [_crossing_table(crossings(report)), _compromise_table(found)]
    return tables


def probe_findings(report: Report) -> list[str]:
    """When the curves cross, in words."""
    sentences = []
    for one in crossings(report):
        where = f"at step {_about(one.interval)}" if one.interval else "at no step"
        sentences.append(
            f"{one.condition}: the target's perplexity falls below the control's {where} "
            f"({one.crossed} of {one.seeds} seeds)."
        )
    return sentences


def _about(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return f"{interval.mean:.0f}"
    return f"{interval.mean:.0f} [{interval.low:.0f}, {interval.high:.0f}]".replace("-", "−")


def _perplexity_chart(report: Report) -> Chart:
    """A panel a condition: mean over seeds with its 95% band, the corpora in two colours."""
    records = []
    for condition, by in trained(report).items():
        for corpus, curves in by.items():
            for step in sorted(set.intersection(*(set(curve) for curve in curves.values()))):
                found = student_t_interval([curve[step] for curve in curves.values()])
                bounds = {"low": found.low or found.mean, "high": found.high or found.mean}
                records.append({"condition": condition, "corpus": corpus, "step": step, "mean": found.mean, **bounds})
    scale = alt.Scale(domain=[TARGET, CONTROL], range=PALETTE[:2])
    y: dict[str, Any] = {
        "title": "Perplexity",
        "axis": alt.Axis(tickCount=3),
        "scale": alt.Scale(type="log", nice=False),
    }
    base = alt.Chart(pd.DataFrame(records)).encode(
        x=alt.X("step:Q", title="Step", axis=alt.Axis(tickCount=5, grid=False)),
        color=alt.Color("corpus:N", title=None, scale=scale, legend=alt.Legend(orient="top")),
    )
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", **y), y2="high:Q")
    tooltip = ["condition", "corpus", "step", alt.Tooltip("mean:Q", format=".2f")]
    line = base.mark_line(strokeWidth=2).encode(y=alt.Y("mean:Q", **y), tooltip=tooltip)
    return _panels(alt.layer(band, line), list(trained(report)))


def _layer_chart(table: pd.DataFrame) -> Chart:
    """A panel a condition: the mean over seeds of every layer against the step; dark layers are the upper ones."""
    means = table.groupby(["condition", "layer", "step"], as_index=False, sort=False)["value"].mean()
    line = alt.Chart(means).mark_line(strokeWidth=1.5).encode(
        x=alt.X("step:Q", title="Step", axis=alt.Axis(tickCount=5, grid=False)),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)),
        color=alt.Color("layer:O", title="Layer", scale=alt.Scale(scheme="viridis"), legend=alt.Legend(orient="right")),
        tooltip=["condition", "layer", "step", alt.Tooltip("value:Q", format=".4g")],
    )  # fmt: skip
    return _panels(alt.layer(line), list(dict.fromkeys(table["condition"])))


def _panels(layer: Chart, conditions: Sequence[str]) -> Chart:
    facet = alt.Facet("condition:N", title=None, sort=list(conditions), header=alt.Header(labelColor="currentColor"))
    panels: Chart = layer.properties(width=_PANEL, height=150).facet(facet, columns=3)
    return panels


def _compromise_chart(found: Sequence[Compromise]) -> Chart:
    """Every condition at every step as a point, the front as a line through the best."""
    table = pd.DataFrame(found)
    table["loss"] *= 100
    front = pd.DataFrame(pareto_front(found))
    front["loss"] *= 100
    x = alt.X("loss:Q", title="Rise of the control's perplexity (%)")
    y = alt.Y("target:Q", title="Perplexity of the target", scale=alt.Scale(type="log", nice=False))
    conditions = list(dict.fromkeys(one.condition for one in found))
    colour = alt.Color(
        "condition:N", title=None, scale=alt.Scale(domain=conditions, range=PALETTE),
        legend=alt.Legend(orient="top", direction="vertical", labelLimit=400),
    )  # fmt: skip
    tooltip = ["condition", "step", alt.Tooltip("target:Q", format=".2f"), alt.Tooltip("loss:Q", format=".1f")]
    points = alt.Chart(table).mark_point(size=18, filled=True).encode(x=x, y=y, color=colour, tooltip=tooltip)
    line = alt.Chart(front).mark_line(interpolate="step-after", opacity=0.5, color="currentColor").encode(x=x, y=y)
    return alt.layer(line, points).properties(width="container", height=300)


def _technique_table(report: Report) -> Table:
    """A line a condition: perplexities at its last step, references too."""
    lines = []
    for condition, by in perplexities(report).items():
        cells = [Cell(condition)]
        for corpus in (TARGET, CONTROL):
            curves = list(by.get(corpus, {}).values())
            last = student_t_interval([curve[max(curve)] for curve in curves]) if curves else None
            cells += [number_cell(last.mean if last else None, ".2f"), bounds_cell(last, 1.0)]
        steps = {max(curve) for curve in by.get(TARGET, {}).values()}
        lines.append([*cells, number_cell(max(steps, default=None), "d")])
    headers = ["Condition", "Target", "95% over seeds", "Control", "95% over seeds", "Step"]
    return Table("Perplexity at the end of training", headers, lines, "References are not tuned: step 0.")


def _crossing_table(found: Sequence[Crossing]) -> Table:
    lines = [
        [
            Cell(one.condition),
            number_cell(one.interval.mean if one.interval else None, ".0f"),
            bounds_cell(one.interval, 1.0),
            Cell(f"{one.crossed} of {one.seeds}"),
        ]
        for one in found
    ]
    return Table("Where the curves cross", ["Condition", "Step", "95% over seeds", "Seeds that cross"], lines)


def _compromise_table(found: Sequence[Compromise]) -> Table:
    lines = []
    for loss in LOSSES:
        if best := best_within(found, loss):
            lines.append(
                [
                    number_cell(100 * loss, ".0f"),
                    Cell(best.condition),
                    number_cell(best.step, "d"),
                    number_cell(best.target, ".2f"),
                    number_cell(100 * best.loss, ".1f"),
                ]
            )
    headers = ["Rise allowed (%)", "Best condition", "At step", "Target’s perplexity", "Rise (%)"]
    note = "The lowest perplexity of the target for a stated rise of the control’s, means over seeds."
    return Table("The best compromise", headers, lines, note)
