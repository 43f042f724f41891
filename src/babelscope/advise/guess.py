"""What a plan answers before anything is tuned: the best guess, why, and what a run would take."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.advise.facts import Fact
from babelscope.advise.plan import Planned, most_for_curves
from babelscope.advise.recipes import BRINGING, Recipe
from babelscope.advise.request import Request
from babelscope.advise.sentences import at_once
from babelscope.core.words import counted
from babelscope.report.cautions import UNREAD
from babelscope.study.verdicts import AS_IT_IS


def best_guess(planned: Sequence[Planned], facts: Sequence[Fact]) -> list[str]:
    """That nothing is tuned yet; which recipe is the most promising, and by what."""
    untuned = "Nothing has been tuned yet, so which recipe is best is not known."
    recipe, fact = planned[0].recipe, _fact_of(planned[0].recipe, facts)
    if recipe.kind in BRINGING:
        why = "it reads the language with a vocabulary of its own, made from the translated sentences"
        return [untuned, f"The best guess is {recipe.name}: {why}. {_ONLY_A_GUESS}"]
    if fact is None or fact.coverage.unknown > UNREAD:
        none = f"none of the encoders can read most {_units(facts)} of the text"
        return [untuned, f"No recipe with an encoder is a good guess: {none}. {_ONLY_A_GUESS}"]
    return [untuned, f"The best guess is {recipe.name}: {_covered(fact, facts)}.{_kind(recipe)} {_ONLY_A_GUESS}"]


_ONLY_A_GUESS = "That is a guess from vocabularies alone; only a run tells."


def _fact_of(recipe: Recipe, facts: Sequence[Fact]) -> Fact | None:
    return next((fact for fact in facts if (fact.encoder, fact.letters) == (recipe.encoder, recipe.letters)), None)


def _units(facts: Sequence[Fact]) -> str:
    return f"{facts[0].unit}s" if facts else "words"


def _covered(fact: Fact, facts: Sequence[Fact]) -> str:
    """How few words are unknown and how few subwords they are cut into, beside what else there is to choose from."""
    unit, (_, unknown, fertility, _) = fact.unit, fact.coverage
    cut = f"it cuts a {unit} into {fertility:.1f} subwords"
    said = f"{unknown:.1%} of the {unit}s have a part that it does not know, and {cut}"
    return f"of what was tried it knows the text best; {said}" if len(facts) > 1 else said


def _kind(recipe: Recipe) -> str:
    """Why what is done to the encoder comes before what else can be."""
    if recipe.kind == AS_IT_IS:
        return ""
    return " Adapted encoders come before others, since they have read text in the language."


def minutes_of_run(planned: Sequence[Planned], request: Request) -> str:
    """By the clock on this machine, as far as it is known beforehand; else empty."""
    if not planned or any(step.seconds is None for step in planned):
        return ""
    number = at_once(request)
    race = sum(step.seconds or 0 for step in planned) / 60 / number
    more = most_for_curves(request, planned) / 60 / number
    curves = f", and about {max(more, 1):,.0f} more for the curves" if request.curve else ""
    return f"about {counted(round(max(race, 1)), 'minute')} here{curves}"
