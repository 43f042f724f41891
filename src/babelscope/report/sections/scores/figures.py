"""Charts of scores: by language and condition, and against the same encoder untrained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from babelscope.core.intervals import Interval
from babelscope.report.figures import Chart, look_of, within
from babelscope.report.model import Report
from babelscope.report.score import BOUNDS, Score, scale
from babelscope.report.sections.scores.findings import Difference
from babelscope.report.shown import Shown

LANE = 11
"""Height of one condition's line, in pixels."""


def score_chart(report: Report, scores: Sequence[Score]) -> Chart:
    """A band a place: every condition's mean over seeds, its 95% interval and single seeds; baselines as ticks."""
    factor, unit = scale(scores[0].unit)
    shown = Shown.of(scores[0])
    measure = shown.measure.title
    means = pd.DataFrame([_mean_record(s.interval, factor, s) | {"seeds": s.seeds} for s in scores])
    seeds = pd.DataFrame([_labels(s) | {"seed": k, "mean": v * factor} for s in scores for k, v in s.by_seed.items()])
    limits = _logarithmic() if shown.as_ratio else within(scores[0].unit, [*_ends(means), *seeds["mean"]])
    plot = _DotPlot.of(report, scores, f"{measure} ({unit})" if unit else measure, limits)
    seeded = means["seeds"] > 0
    layers: list[alt.Chart] = []
    if seeded.any():
        layers += [plot.seeds(seeds[seeds["condition"].isin(plot.lanes)]), *plot.means(means[seeded])]
        layers[-1:-1] = plot.cut(means[seeded], [factor * end for end in BOUNDS.get(scores[0].unit, ())])
    if not seeded.all():
        layers += [plot.ticks(means[~seeded])]
    return plot.sized(layers)


def difference_chart(report: Report, compared: Sequence[Difference]) -> Chart:
    """A band a place: every encoder minus itself untrained, with the 95% interval of the difference."""
    shown = Shown.of(compared[0].score)
    factor, unit = scale(shown.unit)[0], shown.unit_in_words
    table = pd.DataFrame([_mean_record(d.interval, factor, d.score) | {"verdict": d.verdict} for d in compared])
    title = f"Gain over untrained{f' ({unit})' if unit else ''}"
    if shown.as_ratio:
        title = f"{shown.measure.title}, times that of untrained"
    values = [0.0, *_ends(table)]
    limits = _logarithmic() if shown.as_ratio else within(shown.unit, values, differences=True)
    plot = _DotPlot.of(report, [difference.score for difference in compared], title, limits)
    same = pd.DataFrame({"mean": [1 if shown.as_ratio else 0]})
    line = alt.Chart(same).mark_rule(strokeDash=[3, 3], opacity=0.6).encode(x="mean:Q")
    return plot.sized([line, *plot.means(table)])


@dataclass(frozen=True)
class _DotPlot:
    """What the layers of a plot with a band a place share. `lanes` are the conditions that have seeds."""

    places: list[str]
    lanes: list[str]
    look: dict[str, Any]
    title: str
    chosen: alt.Parameter
    limits: alt.Scale

    @classmethod
    def of(cls, report: Report, scores: Sequence[Score], title: str, limits: alt.Scale) -> _DotPlot:
        lanes = list(dict.fromkeys(score.condition for score in scores if score.seeds))
        look = look_of("condition:N", report.conditions, {score.condition for score in scores})
        chosen = alt.selection_point(name="chosen", fields=["condition"], bind="legend")
        return cls(list(dict.fromkeys(score.place for score in scores)), lanes, look, title, chosen, limits)

    def seeds(self, table: pd.DataFrame) -> alt.Chart:
        return self._lanes(alt.Chart(table).mark_point(size=22, strokeWidth=1), table, 0.5).encode(**self.look)

    def means(self, table: pd.DataFrame) -> list[alt.Chart]:
        known = table.dropna(subset=["low", "high"])
        bars = self._lanes(alt.Chart(known).mark_rule(strokeWidth=1.5), table).encode(x="low:Q", x2="high:Q")
        marks = self._lanes(alt.Chart(table).mark_point(filled=True, size=50), table).encode(**self.look)
        return [bars, marks] if len(known) else [marks]  # of an empty layer Vega complains

    def cut(self, table: pd.DataFrame, bounds: Sequence[float]) -> list[alt.Chart]:
        """An arrow at every end of an interval that would go on beyond what a score can be."""
        arrows = []
        for end, shape, bound in zip(("low", "high"), ("triangle-left", "triangle-right"), bounds, strict=False):
            beyond = table[(table[end] == bound) & (table["low"] < table["high"])]
            if len(beyond):  # of an empty layer Vega complains
                arrow = alt.Chart(beyond).mark_point(shape=shape, size=40, filled=True)
                arrows.append(self._lanes(arrow, beyond).encode(x=alt.X(f"{end}:Q", scale=self.limits)))
        return arrows

    def ticks(self, table: pd.DataFrame) -> alt.Chart:
        height = LANE * max(len(self.lanes), 1)
        return self._places(
            alt.Chart(table).mark_tick(thickness=2.5, size=height), table[["place", "condition", "mean"]]
        )

    def sized(self, layers: Sequence[alt.Chart]) -> Chart:
        *below, top = layers  # the legend selects by a parameter, which one of the layers must have
        height = len(self.places) * max(22, len(self.lanes) * LANE + 12)
        top = top.properties(name="scores").add_params(self.chosen)  # altair 5 would count the charts that it has named
        return alt.layer(*below, top).properties(width="container", height=height)

    def _lanes(self, chart: alt.Chart, table: pd.DataFrame, shown: float = 1.0) -> alt.Chart:
        return self._places(chart, table, shown).encode(yOffset=alt.YOffset("condition:N", sort=self.lanes))

    def _places(self, chart: alt.Chart, table: pd.DataFrame, shown: float = 1.0) -> alt.Chart:
        axis = alt.Axis(grid=True, tickBand="extent", labelLimit=240)
        return chart.encode(
            x=alt.X("mean:Q", title=self.title, scale=self.limits, axis=alt.Axis(tickCount=6)),
            y=alt.Y("place:N", title=None, sort=self.places, axis=axis),
            color=self.look["color"],
            opacity=alt.condition(self.chosen, alt.value(shown), alt.value(0.1)),
            tooltip=_tooltip(table, logarithmic=self.limits.type == "log"),
        )


def _logarithmic() -> alt.Scale:
    return alt.Scale(type="log", nice=False, padding=8)


def _ends(table: pd.DataFrame) -> list[float]:
    """Means and the ends of their intervals, as far as these are known."""
    return [float(value) for value in table[["mean", "low", "high"]].to_numpy(dtype=float).ravel()]


def _mean_record(interval: Interval, factor: float, score: Score) -> dict[str, Any]:
    values = {name: getattr(interval, name) for name in ("mean", "low", "high", "sd")}
    return _labels(score) | {name: None if value is None else value * factor for name, value in values.items()}


def _labels(score: Score) -> dict[str, Any]:
    return {"place": score.place, "condition": score.condition}


def _tooltip(table: pd.DataFrame, *, logarithmic: bool) -> list[alt.Tooltip]:
    words = {"place": "language", "low": "95% low", "high": "95% high", "sd": "sd (a factor)" if logarithmic else "sd"}
    numbers = ("mean", "low", "high", "sd")
    return [
        alt.Tooltip(f"{name}:Q", title=words.get(name, name), format=".2f")
        if name in numbers
        else alt.Tooltip(f"{name}:{'Q' if name == 'seeds' else 'N'}", title=words.get(name, name))
        for name in table.columns
    ]
