"""Charts of how alike languages are in each layer, and of how that goes with transfer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import altair as alt
import pandas as pd

from babelscope.report.figures import Chart, Figure, look_of, within
from babelscope.report.model import Report
from babelscope.report.score import scale, title_of
from babelscope.report.sections.alignment.alignments import (
    Alignment,
    Correlation,
    alignments,
    charted,
    source_titles,
    stage_titles,
)
from babelscope.report.words import capitalised


def aligned_figures(report: Report, related: Sequence[Correlation]) -> list[Figure]:
    """A chart a source, encoder and measure, and one of the correlations for each."""
    aligned = alignments(report)
    shown = charted(aligned)
    groups: dict[tuple[str, str, str], list[Alignment]] = defaultdict(list)
    for alignment in aligned:
        if alignment.measure in shown:
            groups[alignment.source, alignment.stage.encoder, alignment.measure].append(alignment)
    figures = [
        Figure(f"{capitalised(measure)} with {source or 'the source'}, {encoder}", _LIKENESS, _likeness(report, group))
        for (source, encoder, measure), group in groups.items()
    ]
    return figures + _correlation_figures(
        [correlation for correlation in related if correlation.measure in shown and correlation.layer is not None]
    )


_LIKENESS = (
    "Layer 0 is the embeddings. Mean over languages and seeds; every language faintly. Sentences and their "
    "translations, the encoder as pre-trained and the best models of its tunings."
)
_RELATED = (
    "Spearman’s correlation, over target languages, of the similarity in a layer with minus the X-Gap; 95% BCa "
    "bootstrap interval over languages. Above 0, a task carries over further where languages are more alike."
)


def _likeness(report: Report, group: Sequence[Alignment]) -> Chart:
    factor, unit = scale(group[0].unit)
    titles = stage_titles(alignment.stage for alignment in group)
    table = pd.DataFrame(
        {"stage": titles[alignment.stage], "task": title_of(alignment.stage.task) or None, "layer": layer,
         "language": report.labels.get(code, code), "value": factor * alignment.of(code, layer)}
        for alignment in group for code, layers in alignment.values.items() for layer in layers
    )  # fmt: skip
    means = pd.DataFrame(
        {"stage": titles[each.stage], "task": title_of(each.stage.task) or None, "layer": layer,
         "value": factor * fmean(each.mean(layer).values())}
        for each in group for layer in each.layers
    )  # fmt: skip
    look = look_of("stage:N", list(dict.fromkeys(table["stage"])), set(table["stage"]), lines=True)
    x = alt.X("layer:Q", title="Layer", axis=alt.Axis(values=sorted(set(table["layer"])), format="~s", grid=False))
    limits = within(group[0].unit, table["value"])
    y = alt.Y("value:Q", title=unit or None, scale=limits, axis=alt.Axis(tickCount=6))
    number = alt.Tooltip("value:Q", format=".3f")
    faint = alt.Chart(table).mark_line(opacity=0.18, strokeWidth=1).encode(
        x=x, y=y, detail="language:N", tooltip=["stage", "language", "layer", number], **look
    )  # fmt: skip
    bold = alt.Chart(means).mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=30))
    return alt.layer(faint, bold.encode(x=x, y=y, tooltip=["stage", "layer", number], **look)).properties(
        width="container", height=220
    )


def _correlation_figures(related: Sequence[Correlation]) -> list[Figure]:
    groups: dict[tuple[str, str, str], list[Correlation]] = defaultdict(list)
    titles = source_titles(related)
    for each in related:
        title = titles[each.stage, each.source]
        what = f"{each.measure} with {title}" if title else each.measure
        groups[what, each.stage.training, each.stage.encoder].append(each)
    return [
        Figure(f"X-Gap against {what}, trained on {training}, {encoder}", _RELATED, _correlation_chart(group))
        for (what, training, encoder), group in groups.items()
    ]


def _tuned(correlation: Correlation) -> str:
    return ", ".join(filter(None, [title_of(correlation.stage.task), correlation.stage.schedule]))


def _correlation_chart(group: Sequence[Correlation]) -> Chart:
    table = pd.DataFrame(
        {"tuned": _tuned(correlation), "task": title_of(correlation.stage.task), "layer": correlation.layer,
         "value": correlation.interval.mean, "low": correlation.interval.low, "high": correlation.interval.high}
        for correlation in group
    )  # fmt: skip
    tunings = list(dict.fromkeys(table["tuned"]))
    shift = {tuned: 0.06 * (k - fmean(range(len(tunings)))) for k, tuned in enumerate(tunings)}
    table["beside"] = table["layer"] + table["tuned"].map(shift)
    look = look_of("tuned:N", tunings, set(tunings), lines=True)
    x = alt.X("beside:Q", title="Layer", axis=alt.Axis(values=sorted(set(table["layer"])), format="~s", grid=False))
    y = alt.Y("value:Q", title="Spearman’s ρ", scale=alt.Scale(domain=[-1, 1]))
    tooltip = ["tuned", "layer", *(alt.Tooltip(f"{name}:Q", format=".2f") for name in ("value", "low", "high"))]
    known = table.dropna(subset=["low", "high"])
    bars = alt.Chart(known).mark_rule(strokeWidth=1.2, opacity=0.6)
    bars = bars.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=look["color"])
    line = alt.Chart(table).mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=30))
    line = line.encode(x=x, y=y, tooltip=tooltip, **look)
    layers = [bars, line] if len(known) else [line]  # of an empty layer Vega complains
    return alt.layer(*layers).properties(width="container", height=220)
