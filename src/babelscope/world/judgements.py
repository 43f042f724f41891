"""Examples of the sentence tasks: meanings, drawn so that only their relation tells the label.

Each task draws its examples in a fixed cycle of kinds, so that labels are balanced in every beginning of the data and
nothing that one sentence shows by itself (its length, a negation) goes with one label more than with another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from typing import NamedTuple

from babelscope.world.chance import Chance
from babelscope.world.concepts import Concept
from babelscope.world.edits import (
    add,
    antonym,
    draw_plain,
    drop,
    edited,
    exchange,
    generalise,
    inference,
    nominals,
    oppose,
    specialise,
    with_nominal,
)
from babelscope.world.meaning import Clause, Nominal


class Judgement(NamedTuple):
    """One or two meanings and the gold label."""

    first: Clause
    second: Clause | None
    label: str | float


# Inference

SHORTER, ALIKE, LONGER = -1, 0, 1
_INFERENCES = {
    "entailment": [
        (False, False, SHORTER), (False, False, ALIKE), (True, True, LONGER), (False, False, SHORTER),
        (False, True, SHORTER), (True, True, LONGER), (False, False, ALIKE), (False, True, ALIKE),
        (False, False, SHORTER), (True, True, LONGER), (False, False, ALIKE), (False, True, LONGER),
    ],
    "neutral": [
        (False, False, LONGER), (False, True, SHORTER), (False, False, ALIKE), (True, True, ALIKE),
        (False, True, LONGER), (False, False, ALIKE), (True, False, SHORTER), (False, True, ALIKE),
        (False, False, SHORTER), (True, True, SHORTER), (False, True, LONGER), (False, False, LONGER),
    ],
    "contradiction": [
        (False, True, SHORTER), (False, False, LONGER), (False, True, ALIKE), (True, False, LONGER),
        (False, True, ALIKE), (False, False, SHORTER), (False, True, SHORTER), (True, False, LONGER),
        (False, False, ALIKE), (False, True, SHORTER), (True, False, LONGER), (False, True, ALIKE),
    ],
}  # fmt: skip
"""Label -> (premise negated, hypothesis negated, length of the hypothesis against the premise) of its examples.

Every label has the same number of negated premises, of negated hypotheses and of each length.
"""


def draw_inferences(chance: Chance) -> Iterator[Judgement]:
    """Premise, hypothesis, and whether the one entails the other, contradicts it, or leaves it open."""
    kinds = zip(*([(label, *kind) for kind in kinds] for label, kinds in _INFERENCES.items()), strict=True)
    for label, premise_negated, hypothesis_negated, length in cycle([kind for row in kinds for kind in row]):
        while True:
            premise, hypothesis = _related(chance)
            premise, hypothesis = replace(premise, negated=premise_negated), replace(hypothesis, negated=hypothesis_negated)
            if inference(premise, hypothesis) == label and _longer(hypothesis, premise) == length and premise != hypothesis:
                yield Judgement(premise, hypothesis, label)
                break


def _related(chance: Chance) -> tuple[Clause, Clause]:
    """A clause and what one to three edits make of it, in either order."""
    edits = (drop, add, generalise, specialise, oppose, exchange)
    first = second = draw_plain(chance)
    for _ in range(1 + chance.below(3)):
        second = edited(chance, second, edits)
    return (first, second) if chance.happens(0.5) else (second, first)


def _longer(one: Clause, other: Clause) -> int:
    """1, 0 or -1: whether one clause says more things than the other."""
    difference = _extras(one) - _extras(other)
    return (difference > 0) - (difference < 0)


def _extras(clause: Clause) -> int:
    adjectives = sum(len(nominal.adjectives) for nominal in nominals(clause).values())
    return adjectives + bool(clause.adverb) + len(clause.obliques)


# Sentiment

_SENTIMENTS = [(True, False), (True, True), (False, False), (True, True), (True, False), (False, True)]
"""(whether the predicate is what is polar, whether the clause is negated); each with either label."""


def draw_sentiments(chance: Chance) -> Iterator[Judgement]:
    """A sentence with one polar word: "1" if positive. Negation turns a predicate round, but no attribute."""
    for polar_predicate, negated in cycle(_SENTIMENTS):
        for label in ("1", "0"):
            wanted = 1 if label == "1" else -1
            if polar_predicate and negated:
                wanted = -wanted
            yield Judgement(_draw_polar(chance, polar_predicate, wanted, negated), None, label)


def _draw_polar(chance: Chance, polar_predicate: bool, polarity: int, negated: bool) -> Clause:
    while True:
        clause = draw_plain(chance, negated)
        attributes = [adjective.polarity for nominal in nominals(clause).values() for adjective in nominal.adjectives]
        found = [clause.predicate.polarity, sum(attributes)]
        others = [value for value in attributes if value]
        if found == ([polarity, 0] if polar_predicate else [0, polarity]) and len(others) == (not polar_predicate):
            return clause


# Acceptability: the meanings; `violation` makes a sentence wrong in a language


def draw_acceptabilities(chance: Chance) -> Iterator[Judgement]:
    """A meaning, and whether its sentence shall be well-formed ("1") or not ("0")."""
    while True:
        for label in ("1", "0"):
            yield Judgement(draw_plain(chance, chance.happens(0.2)), None, label)


# Similarity


def draw_similarities(chance: Chance) -> Iterator[Judgement]:
    """Two meanings and their `similarity`, all degrees from 0 to 5 alike frequent."""
    for degree in cycle((5, 0, 3, 1, 4, 2)):
        while True:
            first, second = _resembling(chance)
            label = similarity(first, second)
            if round(label) == degree:
                yield Judgement(first, second, label)
                break


def similarity(first: Clause, second: Clause) -> float:
    """5 times the share of the parts of two meanings that are the same in both, rounded to two decimals.

    A part is a predicate, an adverb, a negation, the head or the adjectives of subject, object or oblique, or the
    oblique's adposition; every part that at least one of the two has counts.
    """
    ours, theirs = _parts(first), _parts(second)
    return round(5 * len(ours.items() & theirs.items()) / len(ours.keys() | theirs.keys()), 2)


def _parts(clause: Clause) -> dict[str, object]:
    parts: dict[str, object] = {"predicate": clause.predicate, "adverb": clause.adverb, "negation": clause.negated}
    for site, nominal in nominals(clause).items():
        parts |= {site: nominal.head, f"{site} adjectives": nominal.adjectives}
    parts |= {"adposition": adposition for adposition, _ in clause.obliques}
    return {name: part for name, part in parts.items() if part}


def _resembling(chance: Chance) -> tuple[Clause, Clause]:
    first = second = draw_plain(chance, chance.happens(0.2))
    count = chance.below(10)
    if count == 9:
        return first, draw_plain(chance, chance.happens(0.2))
    for _ in range(count):
        second = edited(chance, second, (exchange, exchange, exchange, oppose, drop, add, generalise, turn))
    return first, second


# Paraphrase


def draw_paraphrases(chance: Chance) -> Iterator[Judgement]:
    """Two meanings with nearly the same words, and whether they are the same ("1")."""
    while True:
        for label, base, change in _PARAPHRASES:
            while True:
                first = base(chance)
                second = change(chance, first) if first else None
                if first and second and second != first:
                    yield Judgement(first, second, label)
                    break


def turn(chance: Chance, clause: Clause) -> Clause | None:
    """Subject and object change places, if both are nouns or names."""
    if not clause.object or "PRON" in (clause.subject.head.upos, clause.object.head.upos):
        return None
    return replace(clause, subject=clause.object, object=clause.subject)


def _reordered_conjuncts(chance: Chance, clause: Clause) -> Clause | None:
    word, other = clause.subject.conjunct
    return replace(clause, subject=replace(other, conjunct=(word, replace(clause.subject, conjunct=None))))


def _turned_conjunct(chance: Chance, clause: Clause) -> Clause | None:
    """The second of the conjuncts changes places with the object."""
    word, other = clause.subject.conjunct
    return replace(clause, subject=replace(clause.subject, conjunct=(word, clause.object)), object=other) if clause.object else None


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


_PARAPHRASES = [
    ("1", _with_conjunct, _reordered_conjuncts), ("0", _with_conjunct, _turned_conjunct),
    ("1", _two_clauses, _reordered_clauses), ("0", _two_clauses, _turned_clauses),
    ("1", _numbered, _same_number), ("0", _numbered, _other_number),
    ("1", _with_antonym, _litotes), ("0", _with_antonym, _denied),
    ("1", _with_antonym, _litotes), ("0", _with_antonym, _opposed),
]  # fmt: skip

DRAWS: dict[str, Callable[[Chance], Iterator[Judgement]]] = {
    "inference": draw_inferences,
    "acceptability": draw_acceptabilities,
    "sentiment": draw_sentiments,
    "paraphrase": draw_paraphrases,
    "similarity": draw_similarities,
}
"""Task -> the endless stream of its examples."""
