"""Heat maps of scores by the number of frozen layers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd

from babelscope.report.figures import Chart, Figure
from babelscope.report.score import Score, points_of, scale, title_of
from babelscope.report.sections.freezing.sweeps import Sweep
from babelscope.report.shown import Shown

CAPTION = "Score, mean over seeds; the colour is the change from the first column, grey where that is not known yet."


def sweep_figures(swept: Sequence[Sweep]) -> list[Figure]:
    """A heat map a sweep: places by number of frozen layers, coloured by the change from the fewest."""
    return [
        Figure(f"Layers frozen: {sweep.title}", CAPTION, _heat_map(sweep), about={"task": title_of(sweep.first.task)})
        for sweep in swept
    ]


def _heat_map(sweep: Sweep) -> Chart:
    factor, unit = scale(sweep.first.unit)
    table = _cells(sweep, factor)
    base = alt.Chart(table).encode(
        x=alt.X("frozen:O", title="First layers frozen (−1: nothing, 0: embeddings)", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("language:N", title=None, sort=list(sweep.scores), axis=alt.Axis(labelLimit=240)),
    )
    widest = max(1.0, float(table["change"].abs().max()))
    colours = alt.Scale(scheme="blueorange", domain=[widest, 0, -widest])
    title = "Change (%)" if Shown.of(sweep.first).as_ratio else f"Change ({points_of(unit)})"
    colour = alt.Color("change:Q", title=title, scale=colours)
    tooltip = ["language", "frozen", alt.Tooltip("score:Q", format=".2f")]
    cells = base.mark_rect().encode(color=colour, tooltip=tooltip)
    unknown = base.transform_filter("datum.change === null").mark_rect(color="#ccc").encode(tooltip=tooltip)
    ink = alt.condition(f"abs(datum.change) > {0.75 * widest}", alt.value("white"), alt.value("#111"))
    text = base.mark_text(fontSize=11).encode(text=alt.Text("score:Q", format=".1f"), color=ink)
    return alt.layer(cells, unknown, text).properties(width="container", height=28 * table["language"].nunique())


def _cells(sweep: Sweep, factor: float) -> pd.DataFrame:
    least = sweep.numbers[0]
    return pd.DataFrame(
        {
            "language": place,
            "frozen": frozen,
            "score": score.interval.mean * factor,
            "change": _change(score, scores[least]) if least in scores else None,
        }
        for place, scores in sweep.scores.items()
        for frozen, score in scores.items()
    )


def _change(score: Score, least: Score) -> float | None:
    """At the seeds of both, in points; of perplexities how many percent higher. None without such a seed."""
    better = score.samples - least.samples
    if better is None:
        return None
    higher = score.sign * better.mean
    return 100 * math.expm1(higher) if Shown.of(score).as_ratio else higher * scale(score.unit)[0]
