"""Charts of the models between tuned ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import altair as alt
import pandas as pd

from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.report.figures import Chart, Figure
from babelscope.report.model import Report
from babelscope.report.score import title_of
from babelscope.report.sections.between.lines import Between, Place, Where, labels_of, name_of
from babelscope.report.sections.between.means import OVER, Run, over_pairs
from babelscope.report.sections.between.planes import Plane, planes
from babelscope.report.sections.between.variances import variances

_ALPHA = alt.X("alpha:Q", title="α: 0 one language, 1 both", axis=alt.Axis(grid=False), scale=alt.Scale(nice=False))
_COLOUR = alt.Color("language:N", title="Scored on", sort=["source", "target"], legend=alt.Legend(symbolOpacity=1))
_PANEL = 300
_NO_GRID, _NOT_NICE = alt.Axis(grid=False), alt.Scale(nice=False, zero=False)
_SPREAD = (
    "Variance over seeds of the score, in units of the bilingual model’s mean score over seeds; mean over tasks and "
    "pairs of languages. 95% interval by chi-square, with Satterthwaite’s degrees of freedom; pairs that share the "
    "line’s first model count as one."
)
_DIVIDED = (
    "The same, but each seed’s scores are divided by its own bilingual model’s. This is biased: at α = 1 every seed’s "
    "score is 1, so that the variance is 0 there however much chance decides, and it falls towards it."
)
_BANDS = [0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0]
"""Where the colour of a plane changes."""


def between_figures(report: Report, between: Between) -> Iterator[Figure]:
    """Lines, by task too; variances; angles; planes."""
    if means := between.means():
        caption = f"Means over tasks, pairs of languages and seeds; the bilingual model’s score is 1. {OVER}"
        yield Figure("From one language to two", caption, _line_chart(means, "Score / bilingual’s"))
        for task in dict.fromkeys(line.task for line in between.bilingual):
            if means := between.means(task):
                chart = _line_chart(means, "Score / bilingual’s")
                title = title_of(task)
                about = {"task": title}
                yield Figure(f"From one language to two: {title}", "The same, of one task.", chart, about=about)
        if spread := variances(between):
            yield Figure("How much chance decides", _SPREAD, _line_chart(spread, "Variance"))
            divided = variances(between, seed_by_seed=True)
            yield Figure("How much chance decides, seed by seed", _DIVIDED, _line_chart(divided, "Variance"))
    if angles := [row for row in report.rows if row.kind == "angle" and row.models and row.part == "all"]:
        caption = (
            "At the first of three models, as a rule the bilingual one: the angle between the directions to the other "
            "two (the source’s and the target’s), and how many times as far away the second is as the third."
        )
        yield Figure("Angle and ratio of norms", caption, _angle_chart(angles))
    if along := _along_random(between):
        caption = (
            "The training language’s score; filter-normalised directions, which are drawn once for all tasks and "
            f"seeds, so that intervals say nothing of others; means over tasks and seeds. {OVER}"
        )
        yield Figure("In random directions", caption, _random_chart(along))
    for plane in planes(report):
        if heights := plane.heights():  # else nothing to divide by yet
            caption = f"Mean over seeds; 0, 0 is the model of {plane.models[0]}, whose score is 1."
            about = {"task": title_of(plane.task)}
            yield Figure(plane.title, caption, _plane_chart(report, plane, heights), about=about)


def _line_chart(intervals: Mapping[Place, Interval], title: str) -> Chart:
    records = pd.DataFrame(
        {
            "encoder": place.encoder, "line": f"from the {place.origin}’s model", "language": place.language,
            "alpha": place.alpha, **_band(interval, given=interval.low is None and place.alpha == 1),
        }
        for place, interval in intervals.items()
    )  # fmt: skip
    base = alt.Chart(records).encode(x=_ALPHA, color=_COLOUR)
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", title=title, scale=alt.Scale(zero=False)), y2="high:Q")
    line = base.mark_line(interpolate="linear").encode(y=alt.Y("mean:Q", title=title, scale=alt.Scale(zero=False)))
    layered = alt.layer(band, line).properties(width=_PANEL, height=200)
    encoders = list(dict.fromkeys(place.encoder for place in intervals))
    return layered.facet(column=alt.Column("line:N", title=None), row=alt.Row("encoder:N", title=None, sort=encoders))


def _band(interval: Interval, *, given: bool) -> dict[str, float | None]:
    """The mean and the ends of its band, which closes where the value is given: what scores are divided by."""
    low, high = (interval.mean, interval.mean) if given else (interval.low, interval.high)
    return {"mean": interval.mean, "low": low, "high": high}


def _along_random(between: Between) -> dict[tuple[str, float], Interval]:
    """Encoder, place -> the training language's score divided by that at 0."""
    values: dict[tuple[str, float], dict[Run, float]] = defaultdict(dict)
    for line in between.random:
        scores = line.scores.get(line.origin, {})
        for alpha, value in scores.items() if scores.get(0.0, 0.0) > 0 else ():
            place = "" if line.split == "dev" else f", {line.split}"
            values[f"{line.encoder}{place}", alpha][line.run(line.origin)] = value / scores[0.0]
    return {key: mean.interval for key, quotients in values.items() if (mean := over_pairs(quotients))}


def _random_chart(means: Mapping[tuple[str, float], Interval]) -> Chart:
    records = pd.DataFrame(
        {"encoder": encoder, "alpha": alpha, **_band(mean, given=alpha == 0)}
        for (encoder, alpha), mean in means.items()
    )
    colour = alt.Color("encoder:N", title="Encoder", legend=alt.Legend(symbolOpacity=1))
    base = alt.Chart(records).encode(x=alt.X("alpha:Q", title="α", axis=_NO_GRID, scale=_NOT_NICE), color=colour)
    score = alt.Scale(zero=False)
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", title="Score / model’s own", scale=score), y2="high:Q")
    line = base.mark_line().encode(y=alt.Y("mean:Q", title="Score / model’s own", scale=score))
    return alt.layer(band, line).properties(width=2 * _PANEL, height=200)


def _angle_chart(rows: Sequence[Row]) -> Chart:
    values: dict[tuple[str, str, str, int | None], dict[str, float]] = defaultdict(dict)
    for row in rows:
        values[name_of(row), row.task or "", row.path or "", row.seed][row.measure] = row.value
    records = pd.DataFrame(
        {"encoder": key[0], "task": title_of(key[1]), "models": key[2], "seed": key[3]}
        | {"angle": measured["angle"], "ratio": measured["norm ratio"]}
        for key, measured in values.items()
        if {"angle", "norm ratio"} <= measured.keys()
    )
    points = alt.Chart(records).mark_point(size=30, filled=True, opacity=0.6).encode(
        x=alt.X("ratio:Q", title="Norm ratio", scale=alt.Scale(type="log", nice=False, padding=10)),
        y=alt.Y("angle:Q", title="Angle (degrees)", scale=alt.Scale(zero=False)),
        color=alt.Color("task:N", title="Task"),
        tooltip=["encoder", "task", "models", "seed", "ratio", "angle"],
    )  # fmt: skip
    column = alt.Column("encoder:N", title=None, sort=list(dict.fromkeys(key[0] for key in values)))
    return alt.layer(points).properties(width=_PANEL, height=_PANEL).facet(column=column)


def _plane_chart(report: Report, plane: Plane, heights: Mapping[Where, Mapping[tuple[float, float], float]]) -> Chart:
    labels = labels_of(report, heights)
    records = pd.DataFrame(
        {
            "language": f"scored on {labels[where]}",
            "first": first,
            "second": second,
            "score": value,
        }
        for where, places in heights.items()
        for (first, second), value in places.items()
    )
    for way in ("first", "second"):  # a cell reaches half of the way to its neighbours
        places = sorted(records[way].unique())
        half = min((after - before for before, after in pairwise(places)), default=0.1) / 2
        records[f"{way}_start"], records[f"{way}_end"] = records[way] - half, records[way] + half
    cells = alt.Chart(records).mark_rect().encode(
        x=alt.X("first_start:Q", title=_way("α₁", plane.models[1]), axis=_NO_GRID, scale=_NOT_NICE), x2="first_end:Q",
        y=alt.Y("second_start:Q", title=_way("α₂", plane.models[2]), axis=_NO_GRID, scale=_NOT_NICE), y2="second_end:Q",
        color=alt.Color("score:Q", title="Score", scale=alt.Scale(type="threshold", domain=_BANDS, scheme="viridis")),
        tooltip=["first", "second", alt.Tooltip("score:Q", format=".3f")],
    )  # fmt: skip
    return alt.layer(cells).properties(width=_PANEL, height=_PANEL).facet(column=alt.Column("language:N", title=None))


def _way(alpha: str, model: str) -> str:
    return f"{alpha} in a random direction" if model == "random" else f"{alpha} to the model of {model}"
