"""Scores over the number of sentences that a language is brought in by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import pandas as pd

from babelscope.report.figures import Chart, Figure, look_of, within
from babelscope.report.model import Report
from babelscope.report.paired import level
from babelscope.report.score import Score, scale, section_title, title_of
from babelscope.report.sections.brought_in.gains import Gain, recipe
from babelscope.report.shown import Shown

LINEAR_BELOW = 100
"""Pairs of sentences; from there on the axis is logarithmic."""
MOST_TICKS = 6
CAPTION = (
    "Mean over seeds with its 95% interval, where that is known; at 0 the encoder as it is. The axis is logarithmic "
    f"from {LINEAR_BELOW} pairs on."
)


def curves(report: Report, judged: Sequence[Gain]) -> list[Figure]:
    """A chart for every task, encoder and recipe that languages are brought in by with several numbers of sentences."""
    groups: dict[tuple[str, str, str, bool], list[Gain]] = defaultdict(list)
    for gain in judged:
        made = report.brought_in[gain.score.encoder]
        groups[section_title([gain.score]), gain.reference.condition, recipe(made), made.after_tuning].append(gain)
    figures = []
    for (title, condition, how, later), group in groups.items():
        if len({gain.pairs for gain in group}) > 1:
            about = {"task": title_of(group[0].score.task)}
            named = group[-1].score.condition if how else condition
            when = f", brought in {'after' if later else 'before'} tuning"
            both = (title, condition, how, not later) in groups
            heading = f"By number of sentences: {title}, {named}{when if both else ''}"
            figures.append(Figure(heading, CAPTION, _chart(report, group), about=about))
    return figures


def _chart(report: Report, group: Sequence[Gain]) -> Chart:
    score, per = group[0].score, next((gain.shown.per for gain in group if gain.shown.per), "")
    unit = f"per {per}" if per else f"({scale(score.unit)[1]})"
    title = " ".join(filter(None, [Shown.of(score).measure.title, unit]))
    table = pd.DataFrame(_records(report, group, per))
    rising = _limits(score, table)
    look = look_of("language:N", list(dict.fromkeys(report.labels.values())), set(table["language"]), lines=True)
    numbers = (alt.Tooltip(f"{name}:Q", format=".3f" if per else ".1f") for name in ("score", "low", "high"))
    base = alt.Chart(table).encode(
        x=alt.X(
            "pairs:Q", title="Pairs of sentences", scale=alt.Scale(type="symlog", constant=LINEAR_BELOW),
            axis=alt.Axis(values=_ticks(set(table["pairs"])), format=",d", grid=False),
        ),
        color=look["color"], tooltip=["language", alt.Tooltip("pairs:Q", format=",d"), *numbers],
    )  # fmt: skip
    y = alt.Y("score:Q", title=title, scale=rising, axis=alt.Axis(tickCount=6))
    lines = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=35)).encode(**look, y=y)
    known = table.dropna(subset=["low", "high"])
    if known.empty:  # of an empty layer Vega complains
        return alt.layer(lines).properties(width="container", height=280)
    bars = base.properties(data=known).mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    return alt.layer(bars, lines).properties(width="container", height=280)


def _limits(score: Score, table: pd.DataFrame) -> alt.Scale:
    if Shown.of(score).as_ratio:
        return alt.Scale(type="log", nice=False, padding=8)
    return within(score.unit, table[["score", "low", "high"]].to_numpy(dtype=float).ravel())


def _records(report: Report, group: Sequence[Gain], per: str) -> Iterator[dict[str, Any]]:
    """A point for every language and number, and one for each language as it is."""
    yield from {gain.score.place: _record(report, gain.reference, 0, per) for gain in group}.values()
    yield from (_record(report, gain.score, gain.pairs, per) for gain in group)


def _record(report: Report, score: Score, pairs: int, per: str) -> dict[str, Any]:
    factor, interval = scale(score.unit)[0], level(report, score, per)
    ends = {"score": interval.mean, "low": interval.low, "high": interval.high}
    points = {name: None if value is None else value * factor for name, value in ends.items()}
    return {"language": score.place, "pairs": pairs, **points}


def _ticks(numbers: set[int]) -> list[int]:
    """The numbers there are; if they are too many, 0, and 1, 2 and 5 times the powers of ten up to the largest."""
    if len(numbers) <= MOST_TICKS:
        return sorted(numbers)
    steps = [step * 10**power for power in range(2, 9) for step in (1, 2, 5)]
    return [0, *(step for step in steps if step <= max(numbers))]
