"""How much of the data recipes read: all of it, or fewer and fewer sentences for the points of a curve."""

from __future__ import annotations

from typing import NamedTuple

from babelscope.advise.data import read_split
from babelscope.advise.recipes import BRINGING, ZERO_SHOT, Recipe
from babelscope.advise.request import Request
from babelscope.advise.translated import translated

TRANSLATED, LABELLED = "translated sentences", "labelled sentences"
"""What there can be more of."""
FEWEST = {TRANSLATED: 200, LABELLED: 25}
"""Sentences that a recipe is tried with; fewer only if there are no more."""
ROUND = (25, *(digit * 10**power for power in range(1, 7) for digit in (5, 10, 20)))
"""25, 50, 100, 200, 500, 1,000 and so on."""
POINTS = 5
"""Of a curve at most: all sentences, and the round numbers below."""
LEAST_POINTS = 3
"""That anything is said by: of two, nothing tells whether gains go on."""


class Amounts(NamedTuple):
    """How much of the data a recipe reads; None: all."""

    pairs: int | None = None
    """Of translated sentences."""
    labelled: int | None = None
    """Labelled sentences of the language, to train on."""


EVERYTHING = Amounts()


def learns_from(over: str, recipe: Recipe) -> bool:
    """Whether a recipe learns from translated sentences, or from labelled ones of the language."""
    return recipe.kind in BRINGING if over == TRANSLATED else recipe.kind != ZERO_SHOT


def total(over: str, request: Request) -> int:
    """How many sentences there are to learn from."""
    return len(translated(request).pairs if over == TRANSLATED else read_split(request, "train"))


def kinds(request: Request) -> list[str]:
    """What there are curves over."""
    return [TRANSLATED, LABELLED] if request.parallel else [LABELLED]


def numbers(over: str, there: int) -> list[int]:
    """How many sentences the points of a curve are of, the fewest first and all that there are last.

    The others are round, and the last of them is at most two thirds of all.
    """
    fewer = [number for number in ROUND if FEWEST[over] <= number <= there * 2 / 3]
    return [*fewer[-POINTS + 1 :], there]


def amounts(over: str, number: int, there: int) -> Amounts:
    """So many sentences of one kind, and all of the other."""
    if number == there:
        return EVERYTHING
    return Amounts(pairs=number) if over == TRANSLATED else Amounts(labelled=number)
