"""Gains over the BiLSTM, as charts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import altair as alt
import pandas as pd

from babelscope.report.figures import PALETTE, Chart, Figure, within
from babelscope.report.model import Report
from babelscope.report.score import title_of
from babelscope.report.sections.unseen.gains import (
    Case,
    Gains,
    label,
    recipes_of,
    sentences_in_words,
    verdicts,
)
from babelscope.study.verdicts import BILSTM, above


def unseen_figures(report: Report, compared: Gains) -> list[Figure]:
    """Gains over the BiLSTM, a chart a task and number of labelled sentences."""
    groups: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for case in verdicts(compared):
        groups[case.task, case.shots].append(case)
    caption = (
        "Gain over the BiLSTM on the same labelled sentences, 95% interval over sentences and seeds, of three seeds or "
        "more. What is adapted, or made from scratch, is made once."
    )
    return [
        Figure(f"Against a BiLSTM: {about['task']}, {sentences_in_words(shots)}", caption, chart, about=about)
        for (task, shots), cases in groups.items()
        for about, chart in [({"task": title_of(task)}, _chart(report, compared, cases))]
    ]


def _chart(report: Report, compared: Gains, cases: Sequence[Case]) -> Chart:
    table = pd.DataFrame(_records(report, compared, cases))
    order, recipes = list(dict.fromkeys(table["language"])), list(dict.fromkeys(table["recipe"]))
    colours = alt.Scale(domain=recipes, range=PALETTE[: len(recipes)])
    colour = alt.Color("recipe:N", title=None, sort=recipes, scale=colours)
    base = alt.Chart(table).encode(
        y=alt.Y("language:N", title=None, sort=order, axis=alt.Axis(labelLimit=340, tickBand="extent", grid=True)),
        yOffset=alt.YOffset("recipe:N", sort=recipes),
        color=colour,
        tooltip=["language", "recipe", *(alt.Tooltip(f"{name}:Q", format="+.1f") for name in ("gain", "low", "high"))],
    )
    limits = within("share", [0.0, *table[["gain", "low", "high"]].to_numpy(dtype=float).ravel()], differences=True)
    bars = base.mark_rule(strokeWidth=1.5, clip=True).encode(x=alt.X("low:Q", scale=limits), x2="high:Q")
    gain = alt.X("gain:Q", title="Gain over the BiLSTM (points)", scale=limits)
    points = base.mark_point(filled=True, size=55).encode(x=gain)
    zero = alt.Chart(pd.DataFrame({"gain": [0]})).mark_rule(strokeDash=[3, 3], opacity=0.6).encode(x="gain:Q")
    layers = [zero, bars, points] if table["low"].notna().any() else [zero, points]
    return alt.layer(*layers).properties(width="container", height=max(80, 46 * len(order)))


def _records(report: Report, compared: Gains, cases: Sequence[Case]) -> Iterable[dict[str, object]]:
    for case in cases:
        for recipe in recipes_of(report):
            if gain := compared[case].get(above(recipe, BILSTM)):
                interval = gain.interval
                ends = {"low": interval.low, "high": interval.high}
                yield {"language": label(report, case), "recipe": recipe, "gain": 100 * interval.mean} | {
                    name: None if end is None else 100 * end for name, end in ends.items()
                }
