"""What a race has left undecided, what was dropped in it, and the first line of a verdict, which says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from babelscope.advise.outcome import Outcome, Placed
from babelscope.advise.recipes import EXTENDED
from babelscope.advise.request import Request
from babelscope.advise.search import LONGEST
from babelscope.advise.sentences import scored_in_words, standing
from babelscope.core.scores import MEASURES
from babelscope.core.words import listed
from babelscope.encoders.places import display_name
from babelscope.report.tables import Cell, number_cell
from babelscope.study.verdicts import ADAPTED, BILSTM

STILL_BETTER, UNLEARNED = "still getting better", "hardly better than a constant answer"
"""When training ended, so that a longer one may well be better."""
USUAL_STEPS: int = Request.model_fields["adaptation_steps"].default


def first_line(outcome: Outcome, request: Request) -> str:
    """The best recipe; and if others could still win, how many these are, why, and what would decide it."""
    best = outcome.best
    unfinished, alike = _others_unfinished(outcome), _others_alike(outcome)
    said = f"Best{' so far' if unfinished or alike else ''}: {best.recipe.name}"
    measure = MEASURES[request.measure].name
    lines = [f"{said}, {measure} {scored_in_words(best)} on the test set."]
    if unfinished:
        its, it = ("its", "it") if len(unfinished) == 1 else ("their", "them")
        state = " or ".join(dict.fromkeys(map(_state, unfinished)))
        were = f"{_how_many(unfinished, outcome)} {state} when {its} training ended"
        lines.append(f"{were}, so this says nothing against {it}. {_longer(unfinished, request)}.")
    if alike:
        more = "more test sentences or more rounds (--seeds) may decide"
        lines.append(f"{_how_many(alike, outcome)} not shown to be worse: {more}.")
    return " ".join(lines)


def _state(placed: Placed) -> str:
    """Why nothing is decided of it."""
    return UNLEARNED if placed.unlearned else STILL_BETTER


def _others_unfinished(outcome: Outcome) -> list[Placed]:
    """Those beside the best of which nothing is decided."""
    return [placed for placed in outcome.placed if placed.is_open and placed is not outcome.best]


def _others_alike(outcome: Outcome) -> list[Placed]:
    """Those that ended their training and show neither to be worse than the best nor to be as good."""
    done = [placed for placed in outcome.placed if not placed.is_open]
    return [placed for placed in done if placed.behind and placed.behind.sign <= 0 and not placed.behind.equal]


def _how_many(some: Sequence[Placed], outcome: Outcome) -> str:
    """`All 5 recipes with an encoder were`, `2 of the 6 other recipes were`; the name of one alone."""
    if len(some) == 1:
        return f"{some[0].recipe.name} {_was(some)}"
    others = len(outcome.placed) - 1
    of_all = "recipes with an encoder" if outcome.best.recipe.encoder == BILSTM else "other recipes"
    count = f"All {len(some)}" if len(some) == others else f"{len(some)} of the {others}"
    return f"{count} {of_all} {_was(some)}"


def _was(some: Sequence[Placed]) -> str:
    """Of training, which is past; of what a test shows, which is not."""
    if some[0].is_open:
        return "was" if len(some) == 1 else "were"
    return "is" if len(some) == 1 else "are"


def _longer(unfinished: Sequence[Placed], request: Request) -> str:
    """What would train those longer."""
    if request.search:
        told = "A longer training would tell, in a study of your own"
    else:
        told = f"To decide, run again without --no-search (such recipes then train up to {LONGEST} times as long)"
    adapted = any(placed.recipe.kind in (ADAPTED, EXTENDED) for placed in unfinished)
    if adapted and request.adaptation_steps < USUAL_STEPS:
        told += f" and with more --steps than {request.adaptation_steps:,} (usual: {USUAL_STEPS:,})"
    return told


def unfinished(outcome: Outcome, request: Request) -> list[str]:
    """What was still getting better when training ended, and by how much, encoder by encoder."""
    by_encoder = defaultdict[str, list[Placed]](list)
    for placed in outcome.placed:
        if placed.rising:
            by_encoder[placed.recipe.encoder].append(placed)
    told = []
    for encoder, some in by_encoder.items():
        gains = [f"+{100 * (placed.rising or 0):.1f}" for placed in some]
        gains[0] += " points on the dev sentences"
        if len(some) == 1:
            told.append(f"{some[0].recipe.name} was {STILL_BETTER} when its training ended ({gains[0]}).")
        else:
            parts = [f"{placed.recipe.done} ({gain})" for placed, gain in zip(some, gains, strict=True)]
            told.append(f"{display_name(encoder)} was {STILL_BETTER} when training ended: {'; '.join(parts)}.")
    if outcome.best.unlearned:
        told.append(f"{outcome.best.recipe.name} was {UNLEARNED} when its training ended.")
    if outcome.best.is_open and not _others_unfinished(outcome):
        told[-1] += f" {_longer([outcome.best], request)}."
    return told


def given_up(outcome: Outcome) -> list[str]:
    """What is no longer in the race: how many recipes, since the table has their scores; and what failed, and why."""
    behind = defaultdict[int, list[Placed]](list)
    for placed in outcome.placed:
        if placed.lost and not placed.failed:
            behind[placed.rounds].append(placed)
    failed = [f"{placed.recipe.name}, {placed.lost}" for placed in outcome.placed if placed.failed]
    return [*_dropped(behind), *([f"Dropped: {'; '.join(failed)}."] if failed else [])]


def _dropped(by_rounds: dict[int, list[Placed]]) -> list[str]:
    if not by_rounds:
        return []
    total = sum(map(len, by_rounds.values()))
    when = [f"{len(some)} after round {rounds}" for rounds, some in sorted(by_rounds.items())]
    after = f" after round {next(iter(by_rounds))}" if len(by_rounds) == 1 else f", {listed(when)}"
    name = next(iter(by_rounds.values()))[0].recipe.name
    who, scores = (f"{name} was", "its score") if total == 1 else (f"{total} recipes were", "their scores")
    return [f"{who} dropped{after}, behind on the dev sentences; the table has {scores}."]


def standing_of(placed: Placed, margin: float) -> str:
    """How a recipe stands to the best; empty of the best itself, and of what was dropped without a test score."""
    if placed.failed:
        return "failed"
    if placed.is_open and (placed.behind or placed.lost):
        return f"undecided: {_state(placed)}"
    return standing(placed.behind, margin) if placed.behind else ""


def rounds_cell(placed: Placed) -> Cell:
    """How many rounds a recipe ran, and that it was then dropped."""
    cell = number_cell(placed.rounds, "d")
    return Cell(f"{cell.text} (dropped)", cell.number) if placed.lost and not placed.failed else cell
