"""The recipes in the order of promise, and what each is expected to cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from babelscope.advise.amounts import kinds, learns_from, numbers, total
from babelscope.advise.costs import Costs, expected_seconds, words_of
from babelscope.advise.facts import Fact
from babelscope.advise.recipes import BRINGING, BROUGHT_IN, EXTENDED, FERTILITY, ZERO_SHOT, Recipe, recipes
from babelscope.advise.request import Request
from babelscope.measures.formulas.overlap import Coverage
from babelscope.study.verdicts import ADAPTED, AS_IT_IS

Covered = Mapping[tuple[str, str | None], Coverage]
"""By encoder and letters, how its subwords cover the text."""


class Planned(NamedTuple):
    """A recipe, and what it is expected to cost."""

    recipe: Recipe
    seconds: float | None
    """Of computing, all rounds; None: not known beforehand."""


def planned(request: Request, facts: Sequence[Fact], costs: Mapping[str, Costs]) -> list[Planned]:
    """Recipes by promise: known subwords first, then few subwords a word, then new subwords and adaptation.

    A vocabulary of the language's own covers it well, so recipes with one come first.
    """
    covered = {(fact.encoder, fact.letters): fact.coverage for fact in facts}
    limit = min((fact.limit for fact in facts), default=FERTILITY)
    decoders = {fact.encoder for fact in facts if fact.decoder}
    order = [EXTENDED, ADAPTED, AS_IT_IS]

    def promise(recipe: Recipe) -> tuple[float, float, int]:
        if recipe.kind in BRINGING:
            return (0.0, 1.0, BRINGING.index(recipe.kind))
        coverage = covered.get((recipe.encoder, recipe.letters))
        if coverage is None:
            return (2.0, 0.0, 0)  # the BiLSTM is what the others are held against
        return (round(coverage.unknown, 2), round(coverage.fertility, 1), order.index(recipe.kind))

    return [
        Planned(recipe, _seconds(request, recipe, covered, costs))
        for recipe in sorted(recipes(covered, decoders, bringing(request), limit), key=promise)
    ]


def bringing(request: Request) -> tuple[str, ...]:
    """The kinds of recipes by which the language is brought in, as far as there is data for them."""
    there = {BROUGHT_IN: bool(request.parallel), ZERO_SHOT: bool(request.parallel and request.source_labelled)}
    return tuple(kind for kind in BRINGING if there[kind])


def most_for_curves(request: Request, plan: Sequence[Planned]) -> float:
    """Seconds of computing that the curves over amounts of data take if the dearest recipes are the best.

    All points count, since a recipe that was dropped has not run all rounds. The training is the usual one.
    """
    dearest = {
        over: max((step.seconds or 0.0 for step in plan if learns_from(over, step.recipe)), default=0.0)
        for over in kinds(request)
    }
    return sum(seconds * len(numbers(over, total(over, request))) for over, seconds in dearest.items())


def _seconds(request: Request, recipe: Recipe, covered: Covered, costs: Mapping[str, Costs]) -> float | None:
    if recipe.encoder not in costs:
        return None
    longer = 1.0
    if recipe.letters:
        lettered, own = (covered[recipe.encoder, letters].fertility for letters in (recipe.letters, None))
        longer = lettered / own
    return expected_seconds(request, recipe, costs[recipe.encoder], words_of(request, recipe.kind), longer)
