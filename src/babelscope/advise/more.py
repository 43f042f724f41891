"""What more sentences would bring, as sentences, figures and a table."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from babelscope.advise.amounts import FEWEST, LEAST_POINTS
from babelscope.advise.curves import Curve, as_many
from babelscope.advise.scores import interval_of
from babelscope.advise.sentences import mean_of_rounds
from babelscope.core.inference import FEWEST_SEEDS
from babelscope.core.intervals import Interval
from babelscope.core.scores import MEASURES
from babelscope.report.figures import PALETTE, Figure
from babelscope.report.judged import judged
from babelscope.report.section import Section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.words import capitalised, in_points

NOTE = (
    "On the test set, the mean over rounds. Intervals are over sentences and, of three rounds or more, over rounds; "
    "with fewer they are about these models alone. Fewer sentences are the first ones: with others it may go "
    "otherwise, and no interval has that. With fewer labelled sentences each is read more often, so that all "
    "trainings are as long."
)


POINT = 0.01
FARTHEST = 5
"""Doublings, from which on nothing is said of what so many more sentences would bring."""


def more_section(curves: Sequence[Curve], measure: str) -> Section:
    """The curves, and what twice as many sentences would bring where that shows."""
    title = MEASURES[measure].title
    figures = [_figure(curve, title) for curve in curves if len(curve.numbers) > 1]
    return Section("What more sentences would bring", findings(curves), figures, [_table(curves, title)])


def findings(curves: Sequence[Curve]) -> list[str]:
    """Of each curve what more would bring; and where that shows of both, how many bring as much.

    What they show is corrected for the number of curves (Holm).
    """
    verdicts = judged([curve.doubling for curve in curves])
    signs = [verdict.sign for verdict in verdicts]
    sentences = [_finding(curve, sign) for curve, sign in zip(curves, signs, strict=True)]
    if len(curves) > 1 and set(signs) == {1}:
        sentences.append(_beside(curves))
    if any(doubling.seeds < FEWEST_SEEDS for curve in curves if (doubling := curve.doubling)):
        sentences.append(f"With fewer than {FEWEST_SEEDS} rounds all of this is about these models alone.")
    return sentences


def _finding(curve: Curve, sign: int | None) -> str:
    there, doubling = max(curve.numbers, default=0), curve.doubling
    if doubling is None:
        needed = FEWEST[curve.over] * 2 ** (LEAST_POINTS - 1)
        return f"What more {curve.over} would bring cannot be told from {there:,}; it takes {needed:,} or so."
    recipe = f"{curve.recipe.name}, {100 * curve.scores[-1].mean:.1f}% now"
    told, tried = in_points(doubling.interval), f"from {curve.numbers[-curve.straight]:,} to {there:,}"
    last = (
        "" if curve.straight == 2 else f" Alone, the step from {curve.numbers[-2]:,} brought {in_points(curve.last)}."
    )
    if sign != 1:
        brought = f"{tried}, twice as many brought {told} ({recipe})"
        return f"What more {curve.over} would bring cannot be told: {brought}.{last}"
    can_be_said = curve.scores[-1].mean <= 1 - POINT and POINT / doubling.mean <= FARTHEST
    point = f"; one point more takes about {as_many(POINT, doubling.mean, there):,} more" if can_be_said else ""
    return (
        f"{there:,} more {curve.over}, twice as many as there are, would bring about {told}, if it goes on as {tried} "
        f"({recipe}){point}.{last}"
    )


def _beside(curves: Sequence[Curve]) -> str:
    """How many sentences of the kind that brings more bring as much as those of the other."""
    (least, less), (most, more) = sorted(
        ((curve.doubling.mean, curve) for curve in curves if curve.doubling), key=lambda pair: pair[0]
    )
    as_good = as_many(least, most, more.numbers[-1])
    return f"About {as_good:,} more {more.over} would bring as much as {less.numbers[-1]:,} more {less.over}."


def _points(curve: Curve) -> list[tuple[int, Interval]]:
    return list(zip(curve.numbers, map(interval_of, curve.scores), strict=True))


def _table(curves: Sequence[Curve], measure: str) -> Table:
    lines = [
        [
            Cell(curve.recipe.name), Cell(capitalised(curve.over)), number_cell(number, ",d"),
            number_cell(100 * score.mean, ".1f"), bounds_cell(score, 100), number_cell(len(samples.seeds), "d"),
        ]
        for curve in curves
        for (number, score), samples in zip(_points(curve), curve.scores, strict=True)
    ]  # fmt: skip
    headers = ["Recipe", "Learned from", "Number", "Test", "95%", "Rounds"]
    return Table("Scores with fewer sentences", headers, lines, f"{measure} in percent. {NOTE}")


def _figure(curve: Curve, measure: str) -> Figure:
    points = pd.DataFrame(
        {"number": number, "score": 100 * score.mean, "low": 100 * (score.mean if score.low is None else score.low),
         "high": 100 * (score.mean if score.high is None else score.high)}
        for number, score in _points(curve)
    )  # fmt: skip
    x = alt.X(
        "number:Q", title=capitalised(curve.over), scale=alt.Scale(type="log", base=2, nice=False),
        axis=alt.Axis(values=curve.numbers, format=",d", grid=False),
    )  # fmt: skip
    scale = alt.Scale(zero=False)
    line = alt.Chart(points).mark_line(point=True, color=PALETTE[0]).encode(x=x, y=alt.Y("score:Q", scale=scale))
    bars = alt.Chart(points).mark_rule(color=PALETTE[0]).encode(
        x=x, y=alt.Y("low:Q", title=f"{measure} %", scale=scale), y2="high:Q"
    )  # fmt: skip
    caption = f"{curve.recipe.name}, on the test set: {mean_of_rounds(len(curve.scores[-1].seeds))} with 95% intervals."
    return Figure(f"Over {curve.over}", caption, alt.layer(bars, line).properties(width="container", height=220))
