"""Charts of what was measured during training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from babelscope.core.intervals import Interval, geometric_interval, student_t_interval
from babelscope.core.row import Row
from babelscope.core.scores import MEASURES
from babelscope.report.figures import Chart, Figure, look_of
from babelscope.report.model import Report
from babelscope.report.score import scale, title_of
from babelscope.report.sections.probes.probed import (
    CONTROL,
    TARGET,
    Compromise,
    Curves,
    Group,
    compromises,
    pareto_front,
    perplexities,
    scored,
    shared_steps,
    told_apart,
)
from babelscope.report.words import capitalised

_COLUMNS, _PANEL = 3, 260
"""Small charts side by side, and the width of each in pixels: with axes and a legend they fill the page."""
_STEP = alt.X("step:Q", title="Step", axis=alt.Axis(tickCount=5, format="~s", grid=False))


def probe_figures(report: Report) -> list[Figure]:
    """Perplexities, compromises, scores, and distances and likeness of layers."""
    return [
        *_perplexity_figures(report),
        *(_compromise_figure(report, name, choices) for name, choices in compromises(report).items()),
        *_score_figures(report),
        *_layer_figures(report),
    ]


def _perplexity_figures(report: Report) -> Iterator[Figure]:
    """One for all trainings whose perplexities can be compared, a panel a condition, a line a corpus."""
    groups: dict[Group, dict[str, Mapping[str, Curves]]] = defaultdict(dict)
    for training in perplexities(report):
        if training.moves:
            groups[training.group][training.condition] = training.corpora
    for panels, name in zip(groups.values(), told_apart(groups), strict=True):
        records = _means(panels, geometric_interval)
        chart = _line_panels(records, "Perplexity", ticks=3, type="log", nice=False)
        title = _title("Perplexity while one language is learned", name)
        yield Figure(title, _caption("Geometric means over seeds", records), chart)


def _score_figures(report: Report) -> Iterator[Figure]:
    """One a task, a panel a condition, a line a data set."""
    for (task, measure, unit), panels in scored(report).items():
        factor, symbol = scale(unit)
        records = _means(panels, student_t_interval, factor)
        chart = _line_panels(records, symbol or None, ticks=5, zero=False)
        title = f"{MEASURES[measure].title} during training: {title_of(task)}"
        yield Figure(title, _caption("Means over seeds", records), chart)


def _layer_figures(report: Report) -> Iterator[Figure]:
    """One a task, corpus and measure, a panel a condition, a line a layer."""
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in report.rows:
        if row.kind == "probe" and row.layer is not None:
            groups[row.measure, title_of(row.task or ""), row.dataset or ""].append(row)
    shown = {group: kept for group, rows in groups.items() if (kept := _at_shared_steps(report, rows))}
    named = told_apart((task, corpus) for _, task, corpus in shown)
    for ((measure, *_), rows), name in zip(shown.items(), named, strict=True):
        title = _title(f"{capitalised(measure)}, by layer", name)
        yield Figure(title, "Means over seeds. Layer 0 is the embeddings.", _layer_chart(report, rows))


def _at_shared_steps(report: Report, rows: Sequence[Row]) -> list[Row]:
    """Of every condition the steps that all of its seeds have: a mean over other seeds is no point of the same line."""
    curves: dict[str, dict[int | None, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        curves[report.condition(row)][row.seed][row.step or 0] = row.value
    shared = {condition: set(shared_steps(by_seed.values())) for condition, by_seed in curves.items()}
    return [row for row in rows if (row.step or 0) in shared[report.condition(row)]]


def _compromise_figure(report: Report, name: str, choices: Sequence[Compromise]) -> Figure:
    caption = (
        "Every probe of every condition, geometric means over seeds. The line joins those that no other beats in both "
        "(the Pareto front); it starts at the cross, the encoder before training."
    )
    title = _title("Perplexity of the target against what the control loses", name)
    return Figure(title, caption, _compromise_chart(report, choices))


def _title(title: str, name: str) -> str:
    return f"{title}: {name}" if name else title


def _means(
    panels: Mapping[str, Mapping[str, Curves]], interval: Callable[[Sequence[float]], Interval], factor: float = 1.0
) -> pd.DataFrame:
    """The mean over seeds at every step that all have, and its interval."""
    records: list[dict[str, Any]] = []
    for condition, lines in panels.items():
        for line, curves in lines.items():
            for step in shared_steps(curves.values()):
                mean = interval([curve[step] * factor for curve in curves.values()])
                ends = {"mean": mean.mean, "low": mean.low, "high": mean.high}
                records.append({"condition": condition, "line": line, "step": step, **ends})
    return pd.DataFrame(records)


def _caption(means: str, table: pd.DataFrame) -> str:
    bands = f"{means}; the bands are 95% intervals (Student’s t), cut off at the edge of the panel."
    return bands if table["low"].notna().any() else f"{means}. No intervals: these take several seeds that differ."


def _line_panels(table: pd.DataFrame, title: str | None, ticks: int, **scale: Any) -> Chart:
    """A panel a condition: every line with its band where there is one; the scale is what `altair.Scale` takes."""
    lines = sorted(dict.fromkeys(table["line"]), key=lambda name: (name != TARGET, name != CONTROL))
    look = look_of("line:N", lines, set(lines), lines=True)
    ends = [float(table["mean"].min()), float(table["mean"].max())]
    domain = ends if ends[0] < ends[1] else alt.Undefined  # wide bands would flatten the lines
    y: dict[str, Any] = {"title": title, "scale": alt.Scale(domain=domain, **scale), "axis": alt.Axis(tickCount=ticks)}
    base = alt.Chart(table).encode(x=_STEP, color=look["color"])
    band = base.mark_area(opacity=0.2, clip=True).encode(y=alt.Y("low:Q", **y), y2="high:Q")
    tooltip = ["condition", "line", "step", *(alt.Tooltip(f"{end}:Q", format=".2f") for end in ("mean", "low", "high"))]
    line = base.mark_line(strokeWidth=2).encode(y=alt.Y("mean:Q", **y), tooltip=tooltip, **look)
    return _panels(alt.layer(band, line), table)


def _layer_chart(report: Report, rows: Sequence[Row]) -> Chart:
    """The mean over seeds of every layer against the step; dark layers are the lower ones."""
    table = pd.DataFrame(
        {"condition": report.condition(row), "layer": row.layer, "step": row.step, "value": row.value} for row in rows
    )
    means = table.groupby(["condition", "layer", "step"], as_index=False, sort=False)["value"].mean()
    line = alt.Chart(means).mark_line(strokeWidth=1.5).encode(
        x=_STEP,
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)),
        color=alt.Color("layer:O", title="Layer", scale=alt.Scale(scheme="viridis"), legend=alt.Legend(orient="top")),
        tooltip=["condition", "layer", "step", alt.Tooltip("value:Q", format=".4g")],
    )  # fmt: skip
    return _panels(alt.layer(line), means)


def _panels(layer: Chart, table: pd.DataFrame) -> Chart:
    header = alt.Header(labelColor="currentColor", labelExpr="split(datum.label, ', ')")
    facet = alt.Facet("condition:N", title=None, sort=list(dict.fromkeys(table["condition"])), header=header)
    panels: Chart = layer.properties(width=_PANEL, height=150).facet(facet, columns=_COLUMNS)
    return panels.resolve_scale(x="independent")


def _compromise_chart(report: Report, choices: Sequence[Compromise]) -> Chart:
    """Every condition at every step as a point, the front as a line through the best."""
    table = pd.DataFrame(choices).assign(loss=lambda each: 100 * each["loss"])
    front = pd.DataFrame(pareto_front(choices)).assign(loss=lambda each: 100 * each["loss"])
    x = alt.X("loss:Q", title="Rise of the control's perplexity (%)")
    y = alt.Y("target:Q", title="Perplexity of the target", scale=alt.Scale(type="log", nice=False))
    look = look_of("condition:N", report.conditions, set(table["condition"]))
    tooltip = ["condition", "step", alt.Tooltip("target:Q", format=".2f"), alt.Tooltip("loss:Q", format=".1f")]
    points = alt.Chart(table[table["step"] > 0]).mark_point(size=22, filled=True)
    marks = [
        alt.Chart(front).mark_line(interpolate="step-after", opacity=0.5, color="currentColor").encode(x=x, y=y),
        points.encode(x=x, y=y, tooltip=tooltip, **look),
        alt.Chart(table[table["step"] == 0]).mark_point(shape="cross", size=70, color="currentColor").encode(x=x, y=y),
    ]
    return alt.layer(*marks).properties(width="container", height=300)
