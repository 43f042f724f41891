"""Which recipe is best, by how much and how sure, as sentences, a figure and a table."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import altair as alt
import pandas as pd

from babelscope.advise.names import shown_language
from babelscope.advise.outcome import Outcome
from babelscope.advise.outputs import VERDICT
from babelscope.advise.request import Request
from babelscope.advise.sentences import (
    NO_ENCODER,
    beside_best,
    better_one,
    export_command,
    exported_one,
    few_rounds,
    mean_of_seeds,
    points,
    rounds_of_points,
    said,
    tried_in_words,
    use_of_better,
    useless,
)
from babelscope.advise.undecided import first_line, given_up, rounds_cell, standing_of, unfinished
from babelscope.core.intervals import Interval
from babelscope.core.scores import MEASURES
from babelscope.report.figures import PALETTE, Figure
from babelscope.report.section import Section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.study.verdicts import BILSTM


def verdict_section(outcome: Outcome, request: Request, exported: Path | None, notes: Sequence[str] = ()) -> Section:
    """Which is best, by how much and how sure, and how to use it; `notes` are on the sentences that decided it."""
    best, direct = outcome.best, outcome.direct
    sentences = [first_line(outcome, request), *beside_best(outcome)]
    sentences += notes
    more = (few_rounds(outcome), exported_one(outcome, request, exported), better_one(outcome), useless(outcome))
    sentences += [*filter(None, more), *given_up(outcome), *unfinished(outcome, request)]
    language = shown_language(request.language)
    sentences += [
        f"For {encoder}, {language} is {said(verdict)}. {tried_in_words(request)}"
        for encoder, verdict in outcome.verdicts.items()
    ]
    rivals = [placed for placed in outcome.placed if placed.behind and placed.behind.sign <= 0]
    if best.recipe.encoder == BILSTM and not rivals and not any(placed.is_open for placed in outcome.placed):
        sentences.append(NO_ENCODER)
    commands = {}
    if direct is not best:
        commands[f"To use {best.recipe.name}{mean_of_seeds(best)}"] = use_of_better(outcome, request)
    if not exported:
        commands[f"To write the model of {direct.recipe.name} to a folder{mean_of_seeds(direct)}"] = [
            export_command(outcome, outcome.key, "model")
        ]
    folder = shlex.quote(str(exported)) if exported else "model"
    commands[f"To use {direct.recipe.name}"] = [
        f"babelscope predict {folder} {request.placeholder} -o predicted{request.suffix}"
    ]
    return Section(VERDICT, sentences, [_figure(outcome, request)], [_outcome_table(outcome, request)], commands)


def _figure(outcome: Outcome, request: Request) -> Figure:
    """The test scores with their intervals, from the best, and the least that a model must beat as a line."""
    tested = [placed for placed in outcome.placed if placed.test]
    scored = [(placed.recipe.name, placed.test) for placed in tested if placed.test]
    records = pd.DataFrame(
        {"recipe": name, "score": 100 * test.mean, "low": 100 * (test.mean if test.low is None else test.low),
         "high": 100 * (test.mean if test.high is None else test.high)}
        for name, test in scored
    )  # fmt: skip
    title = MEASURES[request.measure].title
    x = alt.X("low:Q", title=f"{title} %", scale=alt.Scale(zero=False))
    y = alt.Y("recipe:N", title=None, sort=[name for name, _ in scored], axis=alt.Axis(labelLimit=320))
    bars = alt.Chart(records).mark_rule(color=PALETTE[0]).encode(x=x, x2="high:Q", y=y)
    dots = alt.Chart(records).mark_point(filled=True, size=70, opacity=1, color=PALETTE[0]).encode(x="score:Q", y=y)
    least = pd.DataFrame([{"floor": 100 * outcome.floor.test.mean}])
    floor = alt.Chart(least).mark_rule(strokeDash=[4, 4], opacity=0.6).encode(x="floor:Q")
    caption = f"On the test set: {rounds_of_points(tested)}. Dashed: {outcome.floor.name}."
    return Figure(
        "Scores on the test set",
        caption,
        alt.layer(floor, bars, dots).properties(width="container", height=alt.Step(28)),
    )


def _outcome_table(outcome: Outcome, request: Request) -> Table:
    lines = [
        [
            Cell(placed.recipe.name), Cell(placed.trained), rounds_cell(placed),
            *_numbers(placed.dev, ".1f")[:1],
            *_numbers(placed.test, ".1f"), *_numbers(placed.behind.interval if placed.behind else None, ".1f"),
            Cell(standing_of(placed, outcome.margin)),
        ]
        for placed in outcome.placed
    ]  # fmt: skip
    floor = outcome.floor
    lines.append(
        [
            Cell(floor.name), Cell(""), Cell(""), *_numbers(floor.dev, ".1f")[:1], *_numbers(floor.test, ".1f"),
            *_numbers(floor.behind, ".1f"), Cell(""),
        ]
    )  # fmt: skip
    headers = ["Recipe", "Trained", "Rounds", "Dev", "Test", "95%", "Behind", "95%", "Beside the best"]
    return Table("Recipes, from the best", headers, lines, _outcome_note(outcome, request))


def _outcome_note(outcome: Outcome, request: Request) -> str:
    usual = "usual for the size of the encoder and the number of sentences"
    trained = f"epochs, and what is not {usual}, as the dev sentences of the first round have chosen"
    return (
        f"{MEASURES[request.measure].title} in percent, the mean over rounds; behind: "
        "points behind the best on the test set, in the rounds that both ran, so that it need not be the difference of "
        "the means. Intervals are over sentences and, of three rounds or more, over rounds; with fewer they are about "
        "these models alone, not about the recipe. Beside the best, at 5%: since any recipe could have been picked, "
        "corrected for all pairs of those with a test score (Holm). As good: the difference shows to be smaller than "
        f"{points(outcome.margin)} (--margin; two one-sided tests). Not shown to be worse is no more than that: the "
        "test set leaves it open. "
        "The dev set has chosen, and the test set says how good the choice "
        "is; what was dropped has no score there, unless it is the model to export. "
        "The last line is the least that a model must beat. Trained: "
        f"{trained if request.search else f'the epochs that are {usual}; no other way was tried'}."
    )


def _numbers(score: Interval | None, form: str) -> list[Cell]:
    """A mean and its interval, in percent."""
    return [number_cell(100 * score.mean if score else None, form), bounds_cell(score, 100)]
