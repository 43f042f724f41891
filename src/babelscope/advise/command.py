"""`babelscope advise`: look, plan, and on request run, decide and export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from babelscope.advise import page
from babelscope.advise.card import export
from babelscope.advise.costs import Costs, encoder_costs, recurrent_costs
from babelscope.advise.curves import Points, curve_of, points_of
from babelscope.advise.data import check_labelled
from babelscope.advise.facts import Fact, facts, published, references, script_of_text, text_of
from babelscope.advise.guess import best_guess, minutes_of_run
from babelscope.advise.labelled import labelled_notes
from babelscope.advise.more import more_section
from babelscope.advise.outcome import Outcome, outcome_of
from babelscope.advise.outputs import Outputs
from babelscope.advise.plan import Planned, planned
from babelscope.advise.race import Race, Watching
from babelscope.advise.raw import check_text, code_notes, line_notes, match_notes, parallel_notes, translation_note
from babelscope.advise.recipes import letters_for
from babelscope.advise.record import record_of
from babelscope.advise.request import Request, check_names
from babelscope.advise.translated import check_translated
from babelscope.advise.verdict import verdict_section
from babelscope.advise.writable import check_outputs
from babelscope.core.devices import check_device
from babelscope.core.errors import InputError
from babelscope.encoders.load import load_located
from babelscope.encoders.places import locate
from babelscope.engine.store import Store
from babelscope.report.section import Section
from babelscope.study.verdicts import BILSTM

Say = Callable[[str], None]
"""Tells what is being done."""
Show = Callable[[Section], None]


class Advice(NamedTuple):
    """What is seen, and the recipes in the order in which they are planned."""

    sections: list[Section]
    planned: list[Planned]
    known: list[Fact]
    """How each encoder's subwords cover the text."""


def check(request: Request, run: bool, outputs: Outputs) -> None:
    """Refuse what cannot be done, before anything is computed.

    Raises:
        InputError: there is no such text, data set, encoder or device, no translations in the language, no labelled
            sentences to decide by, test sentences that are trained on, two encoders of one name, or a place that
            cannot be written to.
    """
    if run and request.labelled_name is None:
        raise InputError(f"nothing to decide by: give labelled sentences with --labelled {request.placeholder}")
    check_outputs(outputs, run)
    check_text(request)
    check_names(request)
    check_translated(request)
    if request.labelled_name:
        check_labelled(request)
    check_device(request.device)


def look(request: Request, say: Say = lambda text: None) -> Advice:
    """All that can be said before anything is tuned; `say` is told what is being done."""
    lines, labelled = text_of(request), request.labelled_name is not None
    scripts = script_of_text(lines)
    script = next(iter(scripts), None)
    letters, others = letters_for(request.code, script), references(request.code)
    known: list[Fact] = []
    costs: dict[str, Costs] = {}
    if labelled:
        say("timing some steps of the BiLSTM")
        costs[BILSTM] = recurrent_costs(request)
    for name in dict.fromkeys(request.encoders):
        say(f"reading the text with {name}")
        encoder = load_located(locate(name))
        known += facts(request.code, lines, encoder, name, letters, others)
        if labelled:
            say(f"timing some steps of {name}")
            reader = encoder.reading(request.code)
            costs[name] = encoder_costs(request, name, reader, lines)  # which changes its weights
    plan = planned(request, known, costs)
    notes = [
        *code_notes(request.code),
        *line_notes(request),
        *parallel_notes(request),
        *translation_note(request),
        *match_notes(request, lines),
        *labelled_notes(request),
    ]
    seen = page.seen_section(scripts, known, published(request.code, script), notes)
    return Advice([seen, page.plan_section(plan, request)], plan, known)


def advise(request: Request, outputs: Outputs, run: bool, say: Say, show: Show, watching: Watching) -> None:
    """Look and plan; on request run, decide and export. `show` is given the sections, and the page has them.

    What a run has decided by is written beside the page.

    Raises:
        InputError: as of `check`; or what the verdict is held against failed.
    """
    check(request, run, outputs)
    sections, plan, known = look(request, say)
    for section in sections:
        show(section)
    made = page.made_section(request, outputs, run)
    if run:
        if not outputs.page.exists():  # else it has a verdict, which stays until there is another
            page.write_page(request, [*sections, made], outputs.page)
        race = Race(request, [step.recipe for step in plan], Store(outputs.store), watching, say)
        race.run()
        made = page.made_section(request, outputs, run, page.spent(race.seconds, plan))
        points: list[Points] = []
        last = _verdict(race, outcome_of(race, race.constant), outputs, [*sections, made])
        if request.curve:
            show(last)
            say("scoring with fewer and fewer sentences")
            points = points_of(race)
            last, verdict = more_section([curve_of(each, race.scores) for each in points], request.measure), last
            page.write_page(request, [verdict, last, *sections, made], outputs.page)
        record_of(race, race.constant, points).write(outputs.record)
    else:
        guess, minutes = best_guess(plan, known), minutes_of_run(plan, request)
        last = page.next_section(request, outputs, guess, minutes)
        page.write_page(request, [last, *sections, made], outputs.page)
    show(last)


def _verdict(race: Race, outcome: Outcome, outputs: Outputs, rest: Sequence[Section]) -> Section:
    """Write what the race has shown, and the model if that is asked for."""
    request, notes = race.request, labelled_notes(race.request)
    section = verdict_section(outcome, request, None, notes)
    page.write_page(request, [section, *rest], outputs.page)
    if outputs.export:
        export(outcome, request, race.store, outputs.export)
        section = verdict_section(outcome, request, outputs.export, notes)  # not before the model is there
        page.write_page(request, [section, *rest], outputs.page)
    return section
