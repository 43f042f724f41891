"""What page and card say of an outcome, and the commands that go with it."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from babelscope.advise.floor import clear_gain
from babelscope.advise.outcome import Outcome, Placed
from babelscope.advise.request import Request
from babelscope.advise.scores import Behind
from babelscope.core.inference import FEWEST_SEEDS
from babelscope.core.words import listed
from babelscope.engine.local import usable_cores
from babelscope.report.words import capitalised, in_points, in_words
from babelscope.study.verdicts import EASY, HARD, INTERMEDIATE, TOO_FEW

OF_USE = 0.1
"""A model is of use if the low end of the 95% interval is above the floor by so much, or by half of what is left to
gain where that is less (`clear_gain`)."""


WORSE, OPEN = "worse", "not shown to be worse"
"""The second says nothing of how good a recipe is: the test set leaves it open."""
MEANINGS = {
    EASY: "tuned as it is, it beats a BiLSTM, which starts from nothing",
    INTERMEDIATE: "it beats a BiLSTM, which starts from nothing, once it has been adapted to the text",
    HARD: "tuned as it is and adapted to the text, it does not beat a BiLSTM, which starts from nothing",
}
NO_ENCODER = (
    "No encoder that was given does better than none. One that has seen the language, a relative of it or many "
    "languages may: give it with --encoder."
)


def scored_in_words(placed: Placed) -> str:
    """The score on the test set, with its interval."""
    return in_words(placed.test, "share") if placed.test else "not known"


def beside_best(outcome: Outcome) -> list[str]:
    """What the test set says of the other recipes beside the best, but for those that are simply worse."""
    by_standing: dict[str, list[str]] = {}
    for placed in outcome.placed:
        if placed.behind and not placed.is_open:
            there = in_shared_rounds(outcome.best, placed)
            gap = placed.behind.interval
            behind = f"ahead by {in_points(gap.negative)}" if gap.mean < 0 else f"behind by {in_points(gap)}"
            name = f"{placed.recipe.name} ({behind}{f', {there}' if there else ''})"
            by_standing.setdefault(standing(placed.behind, outcome.margin), []).append(name)
    return [f"{capitalised(said)}: {'; '.join(names)}." for said, names in by_standing.items() if said != WORSE]


def standing(behind: Behind, margin: float) -> str:
    """How a recipe stands to the best: worse, as good, or what of it does not show."""
    if not behind.sign:
        return f"as good, within {points(margin)}" if behind.equal else OPEN
    side = WORSE if behind.sign > 0 else "better on the test set, though not on the dev set"
    return f"{side}, by less than {points(margin)}" if behind.equal else side


def few_rounds(outcome: Outcome) -> str:
    """That a verdict after one round or two is not about the recipes; empty after more."""
    rounds = outcome.best.rounds
    if rounds >= FEWEST_SEEDS:
        return ""
    said = f"After {rounds} round{'' if rounds == 1 else 's'} all of this is about these models alone"
    return f"{said}: for the recipes, tuned with other seeds, there are {TOO_FEW} ({FEWEST_SEEDS} are the least)."


def mean_of_rounds(rounds: int) -> str:
    """What the points of a figure are, and what their intervals are over."""
    if rounds == 1:
        return "one round, over sentences alone,"
    return f"means over {rounds} rounds" + ("" if rounds >= FEWEST_SEEDS else ", over sentences alone,")


def rounds_of_points(tested: Sequence[Placed]) -> str:
    """What the points of a figure are and have: of each recipe, where they did not all run as many rounds."""
    recipes = defaultdict[int, list[str]](list)
    for placed in tested:
        recipes[placed.rounds].append(placed.recipe.name)
    if len(recipes) == 1:
        return f"{mean_of_rounds(*recipes)} with 95% intervals"
    (most, _), *fewer = sorted(recipes.items(), reverse=True)
    others = "; ".join(f"{listed(names)}: {mean_of_rounds(rounds).rstrip(',')}" for rounds, names in fewer)
    return f"{mean_of_rounds(most)} with 95% intervals ({others})"


def useless(outcome: Outcome) -> str:
    """What is to be said of the model to export where a constant answer is about as good; else empty."""
    floor, above = outcome.floor, outcome.floor.below
    low, high = (above.mean if end is None else end for end in (above.low, above.high))
    clearly = clear_gain(floor.test.mean, OF_USE)
    if low >= clearly and low > 0:
        return ""
    beside = f"{floor.name} ({in_words(floor.test, 'share')}; the difference is {in_points(above)})"
    if high >= clearly:
        return f"{outcome.direct.recipe.name}: its use does not show beside {beside}; more test sentences may tell."
    yet, longer = (" yet", "a longer training, ") if outcome.direct.unlearned else ("", "")
    return (
        f"{outcome.direct.recipe.name}: of no use{yet}, since it is {'hardly' if above.sign > 0 else 'no'} better than "
        f"{beside}. What may help: {longer}more labelled sentences, or an encoder that knows the language, a relative "
        "of it or at least its letters."
    )


def better_one(outcome: Outcome) -> str:
    """What is better than the model that is exported, and why that is not exported; empty if nothing is better."""
    best, behind = outcome.best, outcome.direct.behind
    if behind is None:  # it is the best
        return ""
    how = "reads the language in other letters" if best.recipe.letters else "has no encoder"
    there = in_shared_rounds(best, outcome.direct)
    return f"{_better(best.recipe.name, behind)}{f', {there}' if there else ''}, but {how}."


def in_shared_rounds(best: Placed, other: Placed) -> str:
    """Why a difference on the test set is not that of the two scores: it is of the rounds that both ran; else empty.

    In these the other's score is the one that is shown, as it ran no more.
    """
    if best.rounds == other.rounds or not (best.test and other.test and other.behind):
        return ""
    shared = min(best.rounds, other.rounds)
    least = (
        f"round 1, the only one that {other.recipe.name} ran" if shared == 1 else f"the {shared} rounds that both ran"
    )
    scores = other.test.mean + other.behind.interval.mean, other.test.mean
    there = " against ".join(f"{100 * score:.1f}%" for score in scores)
    return f"in {least} ({there} there; {100 * best.test.mean:.1f}% is the mean over {best.rounds} rounds)"


def exported_one(outcome: Outcome, request: Request, folder: Path | None) -> str:
    """Which model is in the folder, or would be; empty if nothing is exported and it is the best."""
    best, direct = outcome.best, outcome.direct
    if direct is best:
        return f"{folder} holds this model{mean_of_seeds(direct)}." if folder else ""
    name = f"{direct.recipe.name}, {scored_in_words(direct)}"
    kind = f"the best {'with an encoder ' if request.has_tagger else ''}that reads the language as it is written"
    return (
        f"{folder} does not hold the best model but {name}{mean_of_seeds(direct)}: {kind}."
        if folder
        else f"{capitalised(kind)}: {name}."
    )


def said(verdict: str) -> str:
    """A verdict and what it means."""
    meant = [meaning for name, meaning in MEANINGS.items() if verdict.startswith(name)]
    return f"{verdict}: {meant[0]}" if meant else verdict


def tried_in_words(request: Request) -> str:
    """What a verdict was reached with, since a longer training may lead to another."""
    usual = "" if request.search else ", without a search for the best epochs and learning rate"
    beside = " It says nothing of recipes that bring the language in." if request.parallel else ""
    return f"That is after {request.adaptation_steps:,} steps of adaptation{usual}.{beside}"


def use_of_better(outcome: Outcome, request: Request) -> list[str]:
    """The commands that use what `better_one` tells of; none if nothing is better."""
    if outcome.best is outcome.direct:
        return []
    exported, predict = export_command(outcome, outcome.best_key, "better-model"), "babelscope predict better-model"
    if not (letters := outcome.best.recipe.letters):
        return [exported, f"{predict} {request.placeholder} -o predicted{request.suffix}"]
    text = ".conllu" if request.is_conllu else ".txt"  # BIO is not transliterated
    back = ["babelscope transliterate predicted.conllu --restore -o restored.conllu"] if request.is_conllu else []
    return [
        exported,
        f"babelscope transliterate FILE{text} --by {letters} -o transliterated{text}",
        f"{predict} transliterated{text} -o predicted{request.suffix}",
        *back,
    ]


def mean_of_seeds(placed: Placed) -> str:
    """Beside a command that exports one model of a recipe, that its score is that of several; empty if it is not."""
    if placed.rounds == 1:
        return ""
    return f" (one seed's, the best on the dev sentences; the score above is the mean of {placed.rounds} seeds)"


def export_command(outcome: Outcome, key: str, folder: str) -> str:
    """The command that writes a model of the store to a folder."""
    return f"babelscope export {key[:12]} --store {shlex.quote(str(outcome.store))} -o {folder}"


def _better(best: str, behind: Behind) -> str:
    """The best recipe was chosen on the dev set; what the test set says of that."""
    difference = in_points(behind.interval)
    if behind.sign > 0:
        return f"{best} is better by {difference} on the test set"
    said = "is the reverse" if behind.sign else "does not show"
    return f"{best} was better on the dev set (on the test set that {said}: {difference})"


def points(margin: float) -> str:
    """A margin in words."""
    return f"{100 * margin:g} point{'' if margin == 0.01 else 's'}"


def at_once(request: Request) -> int:
    """How many recipes are worked on at the same time."""
    return 1 if request.device == "cuda" else usable_cores()


def altogether(minutes: float, request: Request) -> str:
    """How long the recipes of a plan take to compute, and what adds to it or makes it shorter."""
    number = at_once(request)
    beside = f", {minutes / number:,.1f} with {number} recipes at once" if number > 1 else ""
    more = "; more where other trainings are tried, which --no-search leaves out" if request.search else ""
    return (
        f"Minutes of computing, all recipes together: about {minutes:,.1f}{beside}; less where some are dropped{more}."
    )
