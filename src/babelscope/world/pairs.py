"""Text in which sentences hang together: pairs of sentences that differ in little, as meanings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from babelscope.world.chance import Chance
from babelscope.world.concepts import Concept, inventory
from babelscope.world.edits import add, draw_plain, drop, edited, exchange, generalise, inference, oppose, specialise
from babelscope.world.meaning import Clause
from babelscope.world.rewordings import draw_rewordings

CONJUNCTIONS = {
    "entailment": inventory()["SCONJ", "if"],
    "neutral": inventory()["CCONJ", "and"],
    "contradiction": inventory()["CCONJ", "but"],
}
"""How the first sentence bears on the second -> the word that a pair may begin with.

Of rewordings the word tells whether they say the same, nearly the same or the opposite, as loosely as paraphrase is
taken.
"""


class Pair(NamedTuple):
    """Two meanings, and the conjunction before them that says how they hang together; None where nothing does."""

    first: Clause
    second: Clause
    conjunction: Concept | None


def draw_pairs(chance: Chance) -> Iterator[Pair]:
    """Four fifths are small changes of plain clauses, the others rewordings; half begin with a conjunction."""
    rewordings = draw_rewordings(chance)
    while True:
        if chance.happens(0.2):
            first, second, relation = next(rewordings)
        else:
            first, second = _related(chance)
            relation = inference(first, second)
        yield Pair(first, second, CONJUNCTIONS[relation] if chance.happens(0.5) else None)


def _related(chance: Chance) -> tuple[Clause, Clause]:
    """A clause and what one to four edits make of it, in either order, each denied now and then."""
    first = second = draw_plain(chance)
    for _ in range(chance.weighted((1, 2, 4), (0.5, 0.3, 0.2))):
        second = edited(chance, second, (drop, add, generalise, specialise, oppose, exchange))
    first, second = (clause._replace(negated=chance.happens(0.25)) for clause in (first, second))
    return (first, second) if chance.happens(0.5) else (second, first)
