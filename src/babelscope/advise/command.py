"""`babelscope advise`: look, plan, and on request run, decide and export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from babelscope.advise import page
from babelscope.advise.facts import Fact, facts, planned, published, script_of_text, seconds_a_piece, text_of
from babelscope.advise.outcome import export, outcome_of
from babelscope.advise.race import Watching, race
from babelscope.advise.recipes import Recipe, letters_for, recipes
from babelscope.advise.request import Request
from babelscope.encoders.places import locate
from babelscope.errors import InputError
from babelscope.execution import load
from babelscope.report.sections import Section
from babelscope.steps import Load
from babelscope.store import Store


class Advice(NamedTuple):
    """What is seen and planned, and the recipes in that order."""

    sections: list[Section]
    tried: list[Recipe]


def look(request: Request) -> Advice:
    """All that can be said before anything is tuned.

    Raises:
        InputError: there is no such text, treebank or encoder.
    """
    lines = text_of(request)
    scripts = script_of_text(lines)
    script = next(iter(scripts), None)
    letters = letters_for(request.language, script)
    found: list[Fact] = []
    costs: dict[str, float] = {}
    for name in request.encoders:
        place = locate(name)
        encoder = load(Load(name=place.name, content=place.content, place=place.path))
        found += facts(lines, encoder, name, letters)
        costs[name] = seconds_a_piece(encoder)
    plan = planned(request, recipes(request, script), found, costs)
    sections = [page.seen_section(scripts, found, published(request.language, script)), page.plan_section(plan)]
    return Advice(sections, [one.recipe for one in plan])


def decide(request: Request, tried: Sequence[Recipe], store: Store, watching: Watching, folder: Path | None) -> Section:
    """Run the recipes, and say which is best; the best that loads directly is written to a folder if one is given.

    Raises:
        InputError: there are no labelled sentences, the folder exists, or a run failed.
    """
    if request.treebank is None:
        raise InputError("nothing to decide by: give labelled sentences with --treebank, a file of CoNLL-U")
    if folder is not None and folder.exists():
        raise InputError(f"{folder}: already there; give --export a name that does not exist yet")
    outcome = outcome_of(race(request, tried, store, watching), request, store)
    if folder is not None:
        export(outcome, request, store, folder)
    return page.verdict_section(outcome, request, folder)
