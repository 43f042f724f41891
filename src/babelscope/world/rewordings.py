"""The same meaning said otherwise, and near misses with nearly the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from babelscope.world.chance import Chance
from babelscope.world.concepts import Concept
from babelscope.world.edits import antonym, draw_plain, nominals, with_nominal
from babelscope.world.meaning import Clause, Nominal

Kind = Callable[[Chance, bool], tuple[Clause, Clause] | None]
"""Draws a meaning, and the same again or (False) a near miss; None if what was drawn does not serve."""

DIGITS = {"two": "2", "three": "3", "four": "4", "ten": "10"}
DIGITS |= {digits: word for word, digits in DIGITS.items()}
"""Every number said in two ways -> the other way."""


class Rewording(NamedTuple):
    """Two meanings, and how the second follows from the first: entailment (it is the same), neutral, contradiction."""

    first: Clause
    second: Clause
    relation: str


def draw_rewordings(chance: Chance) -> Iterator[Rewording]:
    """By turns a clause said otherwise and a near miss of the same kind."""
    while True:
        for kind, relation_of_misses in _KINDS:
            for same in (True, False):
                yield Rewording(*_draw(chance, kind, same), "entailment" if same else relation_of_misses)


def _draw(chance: Chance, kind: Kind, same: bool) -> tuple[Clause, Clause]:
    while True:
        drawn = kind(chance, same)
        if drawn and drawn[0] != drawn[1]:
            return drawn


def _conjuncts(chance: Chance, same: bool) -> tuple[Clause, Clause] | None:
    """`A and B see C` as `B and A see C`; a miss is `A and C see B`."""
    clause, other = draw_plain(chance, chance.happens(0.2)), draw_plain(chance)
    subject, other_subject, thing = nominals(clause)["subject"], nominals(other)["subject"], clause.object
    if not thing or "PRON" in (subject.head.upos, other_subject.head.upos, thing.head.upos):
        return None

    def said(first: Nominal, second: Nominal, third: Nominal) -> Clause:
        return clause._replace(subject=first._replace(conjunct=("and", second)), object=third)

    return said(subject, other_subject, thing), said(other_subject, subject, thing) if same else said(
        subject, thing, other_subject
    )


def _clauses(chance: Chance, same: bool) -> tuple[Clause, Clause] | None:
    """`A sleeps, and B runs` as `B runs, and A sleeps`; a miss is `B sleeps, and A runs`."""
    clause, other = (_bare(draw_plain(chance, chance.happens(0.2))) for _ in range(2))
    if clause.object or other.object:
        return None
    word = chance.pick(("and", "or"))
    turned = clause._replace(subject=other.subject, coordinate=(word, other._replace(subject=clause.subject)))
    return clause._replace(coordinate=(word, other)), other._replace(coordinate=(word, clause)) if same else turned


def _bare(clause: Clause) -> Clause:
    return clause._replace(obliques=(), adverb=None)


def _numbers(chance: Chance, same: bool) -> tuple[Clause, Clause] | None:
    """`two dogs` as `2 dogs`; a miss is another number."""
    clause = draw_plain(chance, chance.happens(0.2))
    sites = [site for site, nominal in nominals(clause).items() if nominal.head.upos == "NOUN"]
    if not sites:
        return None
    site = chance.pick(sites)

    def said(number: str) -> Clause:
        nominal = nominals(clause)[site]._replace(plural=True, determiner="the", number=number)
        return with_nominal(clause, site, nominal)

    number = chance.pick(list(DIGITS))
    others = [other for other in DIGITS if other not in (number, DIGITS[number])]
    return said(number), said(DIGITS[number] if same else chance.pick(others))


def _denials(chance: Chance, same: bool) -> tuple[Clause, Clause] | None:
    """`A loves B` as `A does not hate B`; a miss is `A does not love B`."""
    clause, opposite = _draw_polar(chance)
    denied = clause._replace(negated=not clause.negated)
    return (clause, denied._replace(predicate=opposite) if same else denied) if opposite else None


def _antonyms(chance: Chance, same: bool) -> tuple[Clause, Clause] | None:
    """The same as in `_denials`; a miss is `A hates B`."""
    clause, opposite = _draw_polar(chance)
    opposed = clause._replace(predicate=opposite) if opposite else None
    return (clause, opposed._replace(negated=not clause.negated) if same else opposed) if opposed else None


def _draw_polar(chance: Chance) -> tuple[Clause, Concept | None]:
    """A clause, denied or not alike often, and the antonym of its predicate, if there is one."""
    clause = draw_plain(chance, chance.happens(0.5))
    return clause, antonym(clause.predicate)


_KINDS: list[tuple[Kind, str]] = [
    (_conjuncts, "neutral"), (_clauses, "neutral"), (_numbers, "neutral"),
    (_denials, "contradiction"), (_antonyms, "contradiction"),
]  # fmt: skip
"""Each with the relation of its near misses."""
