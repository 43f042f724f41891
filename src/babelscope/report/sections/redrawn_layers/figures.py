"""What drawing layers anew changes, pair by pair: a panel an encoder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import altair as alt
import pandas as pd

from babelscope.report.figures import Chart, Figure
from babelscope.report.model import Report
from babelscope.report.score import scale, title_of
from babelscope.report.sections.redrawn_layers.reinitialised import Reinitialised, numbers_of, reinitialised
from babelscope.report.shown import Shown

_PANEL = 250
_SIDES = ["the language of the training", "the other languages"]
_NUMBERS = ("change", "low", "high")
_CAPTION = (
    "Layers, counted from 1, are reinitialised before tuning. Means over languages with the 95% interval of the table "
    "below, none where fewer than three seeds say too little. "
)


def reinitialised_figures(report: Report) -> Iterator[Figure]:
    """One a task."""
    tasks: dict[tuple[str, str], list[Reinitialised]] = defaultdict(list)
    for redrawn in reinitialised(report):
        tasks[redrawn.first.task, redrawn.first.measure].append(redrawn)
    for (task, _), group in tasks.items():
        shown, title = Shown.of(group[0].first), title_of(task)
        table = pd.DataFrame(record for redrawn in group for record in _records(redrawn, shown))
        if table.empty:
            continue
        kept = "Above ×1 it is higher than" if shown.as_ratio else "Below 0 it is lower than"
        caption = f"{_CAPTION}{kept} with the layers as they were."
        yield Figure(f"Layers reinitialised: {title}", caption, _chart(table, shown), about={"task": title})


def _chart(table: pd.DataFrame, shown: Shown) -> Chart:
    title = f"{shown.measure.title} gained{'' if shown.as_ratio else f' ({shown.unit_in_words})'}"
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1)
    x = alt.X("layers:N", title="Layers", sort=None, axis=alt.Axis(labelAngle=0))
    beside = alt.XOffset("scored on:N", sort=_SIDES)
    colour = alt.Color("scored on:N", legend=legend, scale=alt.Scale(domain=_SIDES, range=["#8c8c8c", "currentColor"]))
    shape = alt.Shape("scored on:N", legend=legend, scale=alt.Scale(domain=_SIDES, range=["circle", "square"]))
    numbers = [alt.Tooltip(f"{name}:Q", format=".2f") for name in _NUMBERS]
    base = alt.Chart().encode(x=x, xOffset=beside, color=colour)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        y=alt.Y("change:Q", title=title), shape=shape, tooltip=["panel", "scored on", "layers", *numbers]
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(y="low:Q", y2="high:Q")
    as_before = alt.Chart().mark_rule(strokeDash=[4, 3], opacity=0.6).encode(y=alt.datum(1 if shown.as_ratio else 0))
    header = alt.Header(labelColor="currentColor", labelExpr="split(datum.label, '; ')")
    facet = alt.Facet("panel:N", title=None, sort=list(dict.fromkeys(table["panel"])), header=header)
    marks = [whiskers, points] if table["low"].notna().any() else [points]  # of an empty layer Vega complains
    layered = alt.layer(as_before, *marks, data=table).properties(width=_PANEL, height=200)
    chart: Chart = layered.facet(facet, columns=2).resolve_scale(x="independent", xOffset="independent")
    return chart


def _records(redrawn: Reinitialised, shown: Shown) -> Iterator[dict[str, Any]]:
    factor = 1 if shown.as_ratio else scale(shown.unit)[0]
    panel = f"{redrawn.encoder}; trained on {redrawn.first.training}"
    for layers in redrawn.layers:
        for side, places in zip(_SIDES, (redrawn.sources, redrawn.foreign), strict=True):
            if change := redrawn.change(layers, places):
                interval = change.interval.exponential if shown.as_ratio else change.interval
                ends = (None if end is None else factor * end for end in (interval.mean, interval.low, interval.high))
                numbers = dict(zip(_NUMBERS, ends, strict=True))
                yield {"panel": panel, "layers": numbers_of(layers), "scored on": side, **numbers}
