"""What is seen beforehand, what is planned, and the verdict, as sentences, tables and one HTML page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from babelscope.advise.facts import Fact, Planned
from babelscope.advise.outcome import Outcome, Placed
from babelscope.advise.request import Request
from babelscope.advise.sentences import better_one, scored_in_words
from babelscope.encoders.places import display_name
from babelscope.report.files import unwritable
from babelscope.report.findings import in_points
from babelscope.report.sections import Section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.results import language_labels
from babelscope.statistics import Interval
from babelscope.task_table import TASKS

NEAREST = 3


def seen_section(scripts: Mapping[str, float], found: Sequence[Fact], published: Sequence[str]) -> Section:
    """The text, and how the encoders' pieces cover it."""
    shares = ", ".join(f"{script} {share:.0%}" for script, share in list(scripts.items())[:3]) or "no letters"
    sentences = [f"Letters of the text: {shares}."]
    if not any(fact.nearest for fact in found):
        sentences.append("No other language's text is at hand: set BABELSCOPE_DATA to a folder with NTREX to compare.")
    if published:
        sentences.append(f"Published for this language, or others in its script: {'; '.join(published)}.")
    return Section("What can be seen beforehand", sentences, [], [_fact_table(found)])


def plan_section(planned: Sequence[Planned]) -> Section:
    """The recipes in the order of promise."""
    lines = [
        [
            Cell(one.recipe.name),
            Cell("unknown") if one.seconds is None else number_cell(one.seconds / 60, ".1f"),
            Cell(one.why),
        ]
        for one in planned
    ]
    note = "By promise: fewer unknown words first, then fewer pieces a word. A recipe that falls behind is given up."
    return Section("The plan", [], [], [Table("Recipes", ["Recipe", "Minutes, about", "Why"], lines, note)])


def verdict_section(outcome: Outcome, request: Request, exported: Path | None) -> Section:
    """Which is best, by how much and how sure, and how to use it."""
    best, measure = outcome.best, TASKS[request.task].measures[0]
    sentences = [f"Best: {best.recipe.name}, {measure} {scored_in_words(best)} on the test set."]
    if rivals := [one for one in outcome.placed if one.behind]:
        sentences.append("Ahead on the test set: " + "; ".join(map(_ahead, rivals)) + ".")
    sentences += [f"Given up: {one.recipe.name}, {one.lost}." for one in outcome.placed if one.lost]
    sentences += [f"For {encoder}, {request.language} is {found}." for encoder, found in outcome.verdicts.items()]
    if better := better_one(outcome):
        sentences.append(better)
    store = shlex.quote(str(outcome.store))
    where = f"in {exported}" if exported else f"babelscope export {outcome.key[:12]} --store {store} -o model"
    loads = "transformers loads and that " if request.task == "pos" else ""
    direct = outcome.direct.recipe.name
    sentences.append(f"The best that {loads}reads the language as it is written: {direct}; {where}.")
    return Section("The verdict", sentences, [], [_outcome_table(outcome, measure)])


def write_page(request: Request, sections: Sequence[Section], path: Path) -> None:
    """One self-contained HTML file; `InputError` where it cannot be written."""
    environment = Environment(loader=PackageLoader("babelscope", "report"), autoescape=True, undefined=StrictUndefined)
    language = language_labels([request.language])[request.language]
    text = environment.get_template("advice.html.j2").render(
        title=f"Which encoder for {language}?",
        sections=sections,
        style=(files("babelscope.report") / "page.css").read_text(encoding="utf-8"),
    )
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(path, error) from None


def _fact_table(found: Sequence[Fact]) -> Table:
    lines = [
        [
            Cell(display_name(fact.encoder)), Cell(fact.letters or "its own"),
            number_cell(100 * fact.coverage.unknown, ".1f"), number_cell(fact.coverage.fertility, ".2f"),
            number_cell(100 * fact.coverage.characters, ".0f"),
            Cell(", ".join(f"{code} {100 * share:.0f}%" for code, share in fact.nearest[:NEAREST])),
        ]
        for fact in found
    ]  # fmt: skip
    headers = [
        "Encoder",
        "Letters",
        "Unknown words (%)",
        "Pieces a word",
        "Characters covered (%)",
        "Nearest languages",
    ]
    note = "Nearest: the languages at hand whose text is made of the same pieces, with the share that is in common."
    return Table("How the encoders’ pieces cover the text", headers, lines, note)


def _outcome_table(outcome: Outcome, measure: str) -> Table:
    lines = [
        [
            Cell(one.recipe.name), number_cell(one.rounds, "d"), *_numbers(one.dev, ".1f")[:1],
            *_numbers(one.test, ".1f"), *_numbers(one.behind, "+.1f"),
        ]
        for one in outcome.placed
    ]  # fmt: skip
    scores = [f"{measure}, dev", f"{measure}, test", "95%"]
    note = (
        "In percent; behind: points on the test set. Intervals over sentences and rounds. The dev set "
        "has chosen, and the test set says how good the choice is."
    )
    headers = ["Recipe", "Rounds", *scores, "Behind the best", "95%"]
    return Table("Recipes, from the best", headers, lines, note)


def _numbers(one: Interval | None, form: str) -> list[Cell]:
    """A mean and its interval, in percent."""
    return [number_cell(100 * one.mean if one else None, form), bounds_cell(one, 100)]


def _ahead(one: Placed) -> str:
    gain = one.behind or Interval(0, None, None, None, 1)
    sure = {1: "", 0: ", which does not show", -1: ", the reverse"}[gain.sign]
    return f"{in_points(gain)} over {one.recipe.name}{sure}"
