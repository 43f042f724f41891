"""`babelscope advise`: look, plan, and on request run, decide and export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from babelscope.advise import page
from babelscope.advise.facts import (
    Fact,
    facts,
    planned,
    published,
    references,
    script_of_text,
    seconds_a_piece,
    text_of,
)
from babelscope.advise.outcome import Outcome, outcome_of
from babelscope.advise.race import Watching, race
from babelscope.advise.recipes import Recipe, letters_for
from babelscope.advise.request import Request
from babelscope.corpora.datasets import find_file
from babelscope.corpora.sources import Split
from babelscope.encoders.places import locate, model_type
from babelscope.errors import InputError
from babelscope.execution import load
from babelscope.report.sections import Section
from babelscope.steps import Load
from babelscope.store import Store
from babelscope.tasks.export import TAGGERS


class Advice(NamedTuple):
    """What is seen and planned, and the recipes in that order."""

    sections: list[Section]
    tried: list[Recipe]


def check(request: Request, run: bool, folder: Path | None, output: Path) -> None:
    """Refuse what cannot be done, before anything is computed.

    Raises:
        InputError: there is no such text, treebank, encoder or device, no labelled sentences to decide by, or a place
            that cannot be written to.
    """
    if folder is not None and not run:
        raise InputError("--export writes the best model of a run; give --run too")
    if run and request.treebank_name is None:
        raise InputError("nothing to decide by: give labelled sentences with --treebank, a file of CoNLL-U")
    if folder is not None and folder.exists():
        raise InputError(f"{folder}: already there; give --export a name that does not exist yet")
    if not output.resolve().parent.is_dir():
        raise InputError(f"{output}: there is no folder {output.parent}")
    if output.is_dir():
        raise InputError(f"{output}: a folder; give -o the name of a file")
    for name in request.encoders:
        family = model_type(locate(name).path)
        if folder is not None and request.task == "pos" and family not in (None, *TAGGERS):
            raise InputError(
                f"{name}: transformers has no tagger that is a {family} with a linear layer, so that one cannot be "
                "exported; leave out --export, or this encoder"
            )
    find_file("mlm", request.text_name, "train").read()
    splits: tuple[Split, ...] = ("train", "dev", "test")
    for split in splits if request.treebank_name else ():
        find_file(request.task, request.treebank_name or "", split).read()
    if request.device == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda, but torch sees no CUDA device here")


def look(request: Request) -> Advice:
    """All that can be said before anything is tuned."""
    lines = text_of(request)
    scripts = script_of_text(lines)
    script = next(iter(scripts), None)
    letters, others = letters_for(request.language, script), references(request.language)
    found: list[Fact] = []
    costs: dict[str, float] = {}
    for name in dict.fromkeys(request.encoders):
        place = locate(name)
        encoder = load(Load(name=place.name, content=place.content, place=place.path))
        found += facts(lines, encoder, name, letters, others)
        costs[name] = seconds_a_piece(encoder, request.device)
    plan = planned(request, found, costs)
    sections = [page.seen_section(scripts, found, published(request.language, script)), page.plan_section(plan)]
    return Advice(sections, [one.recipe for one in plan])


def decide(request: Request, tried: Sequence[Recipe], store: Store, watching: Watching) -> Outcome:
    """Run the recipes; what the race has shown.

    Raises:
        InputError: what the verdict is held against failed.
    """
    return outcome_of(race(request, tried, store, watching), request, store)
