"""Examples of the sentence tasks: meanings, drawn so that only their relation tells the label.

Each task draws its examples in a fixed cycle of kinds, so that labels are balanced in every beginning of the data and
nothing that one sentence shows by itself (its length, a negation) goes with one label more than with another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

from babelscope.world.chance import Chance
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
    turn,
)
from babelscope.world.meaning import Clause
from babelscope.world.rewordings import draw_rewordings


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
    for label, *denied, length in cycle([kind for row in kinds for kind in row]):
        yield _draw_inference(chance, label, denied, length)


def _draw_inference(chance: Chance, label: str, denied: Sequence[bool], length: int) -> Judgement:
    while True:
        premise, hypothesis = (
            clause._replace(negated=negated) for clause, negated in zip(_related(chance), denied, strict=True)
        )
        unfit = premise == hypothesis or _longer(hypothesis, premise) != length
        if not unfit and inference(premise, hypothesis) == label:
            return Judgement(premise, hypothesis, label)


def _related(chance: Chance) -> tuple[Clause, Clause]:
    """A clause and what one edit or two make of it, in either order."""
    edits = (drop, add, generalise, specialise, oppose, exchange)
    first = second = draw_plain(chance)
    for _ in range(chance.weighted((1, 2), (0.6, 0.4))):
        second = edited(chance, second, edits)
    return (first, second) if chance.happens(0.5) else (second, first)


def _longer(clause: Clause, other: Clause) -> int:
    """1, 0 or -1: whether one clause says more things than the other."""
    difference = _extras(clause) - _extras(other)
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
    wanted = (polarity, []) if polar_predicate else (0, [polarity])
    while True:
        clause = draw_plain(chance, negated)
        adjectives = [adjective for nominal in nominals(clause).values() for adjective in nominal.adjectives]
        if (
            clause.predicate.polarity,
            [adjective.polarity for adjective in adjectives if adjective.polarity],
        ) == wanted:
            return clause


# Acceptability: the meanings; `violations` makes a sentence wrong in a language


def draw_acceptabilities(chance: Chance) -> Iterator[Judgement]:
    """A meaning, and whether its sentence shall be well-formed ("1") or not ("0").

    Half of the subjects are plural, so that a fault in agreement makes a plural verb as often as a singular one.
    """
    for plural, label in cycle([(False, "1"), (True, "0"), (True, "1"), (False, "0")]):
        while True:
            meaning = draw_plain(chance, chance.happens(0.2))
            if nominals(meaning)["subject"].plural == plural:
                yield Judgement(meaning, None, label)
                break


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
    parts["adposition"] = clause.obliques[0][0] if clause.obliques else None
    return {name: part for name, part in parts.items() if part}


def _resembling(chance: Chance) -> tuple[Clause, Clause]:
    """A clause and what up to eight edits make of it, often turned round; or two that have nothing in common.

    Turned round, subject and object have the same words in other parts, which counts of words cannot tell.
    """
    while True:
        first = draw_plain(chance, chance.happens(0.2))
        turned = turn(chance, first)
        if turned:
            break
    edits = chance.below(10)
    if edits == 9:
        return first, draw_plain(chance, chance.happens(0.2))
    second = turned if chance.happens(0.5) else first
    for _ in range(edits):
        second = edited(chance, second, (exchange, exchange, exchange, oppose, drop, add, generalise))
    return first, second


# Paraphrase


def draw_paraphrases(chance: Chance) -> Iterator[Judgement]:
    """Two meanings with nearly the same words, and whether they are the same ("1").

    To deny the antonym counts as saying the same, as it does in speech, though it does not follow by `inference`.
    """
    rewordings = draw_rewordings(chance)
    for same, miss in zip(rewordings, rewordings, strict=True):
        if not _of_one_scale(miss.first):
            yield Judgement(same.first, same.second, "1")
            yield Judgement(miss.first, miss.second, "0")


def _of_one_scale(meaning: Clause) -> bool:
    """Whether two clauses say the same or the opposite of their subjects, which could then change places."""
    other = meaning.coordinate[1] if meaning.coordinate else None
    return other is not None and meaning.predicate in (other.predicate, antonym(other.predicate))


DRAWS: dict[str, Callable[[Chance], Iterator[Judgement]]] = {
    "inference": draw_inferences,
    "acceptability": draw_acceptabilities,
    "sentiment": draw_sentiments,
    "paraphrase": draw_paraphrases,
    "similarity": draw_similarities,
}
"""Task -> the endless stream of its examples."""
