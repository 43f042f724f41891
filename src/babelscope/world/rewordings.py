"""The same meaning said otherwise, and near misses with nearly the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from babelscope.world.chance import Chance
from babelscope.world.edits import antonym, draw_plain, nominals, with_nominal
from babelscope.world.meaning import Clause, Nominal


Base = Callable[[Chance], Clause | None]
"""Draws a clause; None if what was drawn does not serve."""
Change = Callable[[Chance, Clause], Clause | None]


class Rewording(NamedTuple):
    """Two meanings, and how the second follows from the first: entailment (it is the same), neutral, contradiction."""

    first: Clause
    second: Clause
    relation: str


def draw_rewordings(chance: Chance) -> Iterator[Rewording]:
    """By turns a clause said otherwise and a near miss of the same kind."""
    while True:
        for relation, base, change in _REWORDINGS:
            while True:
                first = base(chance)
                second = change(chance, first) if first else None
                if first and second and second != first:
                    yield Rewording(first, second, relation)
                    break


def _reordered_conjuncts(chance: Chance, clause: Clause) -> Clause | None:
    word, other = clause.subject.conjunct
    return replace(clause, subject=replace(other, conjunct=(word, replace(clause.subject, conjunct=None))))


def _turned_conjunct(chance: Chance, clause: Clause) -> Clause | None:
    """The second of the conjuncts changes places with the object."""
    word, other = clause.subject.conjunct
    return (
        replace(clause, subject=replace(clause.subject, conjunct=(word, clause.object)), object=other)
        if clause.object
        else None
    )


def _reordered_clauses(chance: Chance, clause: Clause) -> Clause | None:
    word, other = clause.coordinate
    return replace(other, coordinate=(word, replace(clause, coordinate=None)))


def _turned_clauses(chance: Chance, clause: Clause) -> Clause | None:
    """The clauses exchange their subjects."""
    word, other = clause.coordinate
    return replace(clause, subject=other.subject, coordinate=(word, replace(other, subject=clause.subject)))


def _with_conjunct(chance: Chance) -> Clause | None:
    clause, other = draw_plain(chance, chance.happens(0.2)), draw_plain(chance)
    if not clause.object or "PRON" in (clause.subject.head.upos, other.subject.head.upos, clause.object.head.upos):
        return None
    return replace(clause, subject=replace(clause.subject, conjunct=("and", other.subject)))


def _two_clauses(chance: Chance) -> Clause | None:
    first, second = (_bare(draw_plain(chance, chance.happens(0.2))) for _ in range(2))
    if first.object or second.object:
        return None
    return replace(first, coordinate=(chance.pick(("and", "or")), second))


def _bare(clause: Clause) -> Clause:
    return replace(clause, obliques=(), adverb=None)


DIGITS = {"two": "2", "three": "3", "four": "4", "ten": "10"}
DIGITS |= {digits: word for word, digits in DIGITS.items()}


def _numbered(chance: Chance) -> Clause | None:
    clause = draw_plain(chance, chance.happens(0.2))
    sites = [site for site, nominal in nominals(clause).items() if nominal.head.upos == "NOUN"]
    if not sites:
        return None
    site = chance.pick(sites)
    nominal = replace(nominals(clause)[site], plural=True, determiner="the", number=chance.pick(list(DIGITS)))
    return with_nominal(clause, site, nominal)


def _renumbered(clause: Clause, number: Callable[[str], str]) -> Clause:
    site, nominal = next((site, nominal) for site, nominal in nominals(clause).items() if nominal.number)
    return with_nominal(clause, site, replace(nominal, number=number(nominal.number)))


def _same_number(chance: Chance, clause: Clause) -> Clause | None:
    return _renumbered(clause, DIGITS.__getitem__)


def _other_number(chance: Chance, clause: Clause) -> Clause | None:
    return _renumbered(clause, lambda number: chance.pick([n for n in DIGITS if n not in (number, DIGITS[number])]))


def _with_antonym(chance: Chance) -> Clause | None:
    clause = draw_plain(chance, chance.happens(0.5))
    return clause if antonym(clause.predicate) else None


def _litotes(chance: Chance, clause: Clause) -> Clause | None:
    return replace(clause, predicate=antonym(clause.predicate), negated=not clause.negated)


def _denied(chance: Chance, clause: Clause) -> Clause | None:
    return replace(clause, negated=not clause.negated)


def _opposed(chance: Chance, clause: Clause) -> Clause | None:
    return replace(clause, predicate=antonym(clause.predicate))


_REWORDINGS: list[tuple[str, Base, Change]] = [
    ("entailment", _with_conjunct, _reordered_conjuncts), ("neutral", _with_conjunct, _turned_conjunct),
    ("entailment", _two_clauses, _reordered_clauses), ("neutral", _two_clauses, _turned_clauses),
    ("entailment", _numbered, _same_number), ("neutral", _numbered, _other_number),
    ("entailment", _with_antonym, _litotes), ("contradiction", _with_antonym, _denied),
    ("entailment", _with_antonym, _litotes), ("contradiction", _with_antonym, _opposed),
]  # fmt: skip
