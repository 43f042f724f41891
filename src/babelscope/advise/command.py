"""`babelscope advise`: look, plan, and on request run, decide and export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from babelscope.advise import page
from babelscope.advise.card import export
from babelscope.advise.costs import Costs, encoder_costs, recurrent_costs
from babelscope.advise.facts import Fact, facts, published, references, script_of_text, text_of
from babelscope.advise.outcome import outcome_of
from babelscope.advise.places import check_places
from babelscope.advise.plan import planned
from babelscope.advise.race import Watching, race
from babelscope.advise.raw import check_text, code_notes, line_notes, match_notes
from babelscope.advise.recipes import Recipe, letters_for
from babelscope.advise.request import Places, Request, read_split
from babelscope.core.errors import InputError
from babelscope.corpora.sources import SPLITS
from babelscope.encoders.places import locate
from babelscope.engine.store import Store
from babelscope.report.section import Section
from babelscope.steps import Load
from babelscope.study.verdicts import BILSTM
from babelscope.tasks.export import TAGGERS

Say = Callable[[str], None]
"""Tells what is being done."""
Show = Callable[[Section], None]


class Advice(NamedTuple):
    """What is seen and planned, and the recipes in that order."""

    sections: list[Section]
    tried: list[Recipe]
    exportable: bool
    """Whether transformers has a tagger of every encoder's family, or none is needed."""


def check(request: Request, run: bool, places: Places) -> None:
    """Refuse what cannot be done, before anything is computed.

    Raises:
        InputError: there is no such text, treebank, encoder or device, no labelled sentences to decide by, or a place
            that cannot be written to.
    """
    if run and request.treebank_name is None:
        raise InputError("nothing to decide by: give labelled sentences with --treebank, a file of CoNLL-U")
    check_places(places, run)
    check_text(request)
    for split in SPLITS if request.treebank_name else ():
        read_split(request, split)
    if request.device == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda, but torch sees no CUDA device here")


def look(request: Request, say: Say = lambda text: None, exported: bool = False) -> Advice:
    """All that can be said before anything is tuned; `say` is told what is being done.

    Raises:
        InputError: a model of an encoder is to be `exported` for which transformers has no class.
    """
    lines, labelled = text_of(request), request.treebank_name is not None
    scripts = script_of_text(lines)
    script = next(iter(scripts), None)
    letters, others = letters_for(request.code, script), references(request.code)
    found: list[Fact] = []
    costs: dict[str, Costs] = {}
    families: dict[str, str] = {}
    if labelled:
        say("timing some steps of the BiLSTM")
        costs[BILSTM] = recurrent_costs(request)
    for name in dict.fromkeys(request.encoders):
        say(f"reading the text with {name}")
        place = locate(name)
        encoder = Load(name=place.name, content=place.content, place=place.path).read()
        families[name] = encoder.model.config.model_type
        if exported and not _exportable(request, families[name]):
            raise _no_tagger(name, families[name])
        found += facts(lines, encoder, name, letters, others)
        if labelled:
            say(f"timing some steps of {name}")
            costs[name] = encoder_costs(request, name, encoder, lines)  # which changes its weights
    plan = planned(request, found, costs)
    notes = [*code_notes(request.code), *line_notes(request), *match_notes(request, lines)]
    seen = page.seen_section(scripts, found, published(request.code, script), notes)
    exportable = all(_exportable(request, family) for family in families.values())
    return Advice([seen, page.plan_section(plan, request)], [one.recipe for one in plan], exportable)


def advise(request: Request, places: Places, run: bool, say: Say, show: Show, watching: Watching) -> None:
    """Look and plan; on request run, decide and export. `show` is given the sections, and the page has them.

    Raises:
        InputError: as of `check` and `look`; or what the verdict is held against failed.
    """
    check(request, run, places)
    sections, tried, exportable = look(request, say, places.export is not None)
    for section in sections:
        show(section)
    made = page.made_section(request, places, run)
    if run:
        last = _verdict(request, places, tried, [*sections, made], watching)
    else:
        last = page.next_section(request, places, exportable)
        page.write_page(request, [*sections, last, made], places.output)
    show(last)


def _verdict(
    request: Request, places: Places, tried: Sequence[Recipe], rest: Sequence[Section], watching: Watching
) -> Section:
    """Run the recipes, write the page, and the model if that is asked for."""
    store = Store(places.store)
    found = outcome_of(race(request, tried, store, watching), request, store)
    section = page.verdict_section(found, request, None)
    page.write_page(request, [section, *rest], places.output)
    if places.export:
        export(found, request, store, places.export)
        section = page.verdict_section(found, request, places.export)  # not before the model is there
        page.write_page(request, [section, *rest], places.output)
    return section


def _exportable(request: Request, family: str) -> bool:
    return request.task != "pos" or family in TAGGERS


def _no_tagger(name: str, family: str) -> InputError:
    return InputError(
        f"{name}: transformers has no tagger that is a {family} with a linear layer, so that one cannot be exported; "
        "leave out --export, or this encoder"
    )
