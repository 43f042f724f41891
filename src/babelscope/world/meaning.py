"""Meanings: predicate-argument trees without words, and how they are drawn at random.

A meaning is independent of any language. Later tasks change one (drop a modifier, negate, generalise) with
`_replace` and realise the result anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from babelscope.world.chance import Chance
from babelscope.world.concepts import ADPOSITIONS_OF, Concept, affinity, concepts_of, inventory


class Nominal(NamedTuple):
    """A noun, a name or a pronoun with what modifies it."""

    head: Concept
    plural: bool = False
    determiner: str | None = None
    adjectives: tuple[Concept, ...] = ()
    intensified: bool = False
    number: str | None = None
    surname: Concept | None = None
    possessor: Nominal | None = None
    relative: Clause | None = None
    conjunct: tuple[str, Nominal] | None = None


class Clause(NamedTuple):
    """A predicate (verb, or a copula's adjective or noun) with its arguments and adjuncts.

    In a relative clause the subject is None: it is the noun that the clause modifies.
    """

    predicate: Concept
    subject: Nominal | None
    object: Nominal | None = None
    obliques: tuple[tuple[str, Nominal], ...] = ()
    adverb: Concept | None = None
    negated: bool = False
    tense: str = "present"
    complement: Clause | None = None
    subordinate: tuple[str, Clause] | None = None
    coordinate: tuple[str, Clause] | None = None
    mark: str = "."


NOUNS, VERBS, ADJECTIVES, ADVERBS, NAMES = (concepts_of(upos) for upos in ("NOUN", "VERB", "ADJ", "ADV", "PROPN"))
PRONOUNS = [pronoun for pronoun in concepts_of("PRON") if pronoun.name != "who"]
PLURAL_PRONOUNS = {"they"}
NAME_CLASS = {"person": "PER", "place": "LOC", "group": "ORG"}
BE = inventory()["AUX", "be"]


def draw_sentence(chance: Chance) -> Clause:
    """A whole sentence: a clause, sometimes with a subordinate or a coordinate clause."""
    main = draw_clause(chance)
    kind = chance.weighted(("simple", "subordinate", "coordinate"), (0.64, 0.18, 0.18))
    extra = draw_clause(chance, modest=True) if kind != "simple" else None
    return main._replace(
        subordinate=(chance.pick(("because", "when", "if")), extra) if extra and kind == "subordinate" else None,
        coordinate=(chance.pick(("and", "or", "but")), extra) if extra and kind == "coordinate" else None,
        mark=chance.weighted((".", "?", "!"), (0.84, 0.1, 0.06)),
    )


def draw_clause(chance: Chance, modest: bool = False) -> Clause:
    """A clause of its own; a modest one carries no further clause."""
    if chance.happens(0.16):
        return _draw_copular(chance)
    verb = chance.among(*_verbs(modest))
    return _draw_verbal(chance, verb, _draw_argument(chance, verb.subjects, verb.name + "<", simple=modest), modest)


def _draw_verbal(chance: Chance, verb: Concept, subject: Nominal | None, modest: bool) -> Clause:
    return Clause(
        verb,
        subject,
        object=_draw_argument(chance, verb.objects, verb.name, simple=modest) if verb.objects else None,
        obliques=draw_obliques(chance, verb, 0.3 if modest else 0.6),
        adverb=draw_adverb(chance, verb) if chance.happens(0.15 if modest else 0.3) else None,
        negated=chance.happens(0.15),
        tense=chance.weighted(("present", "past", "future"), (0.5, 0.35, 0.15)),
        complement=draw_clause(chance, modest=True) if verb.clausal else None,
    )


def _draw_copular(chance: Chance) -> Clause:
    """`the dog is big`, or a statement of kind: `the dog is an animal`."""
    subject = _draw_argument(chance, frozenset(ADPOSITIONS_OF), "be<", simple=True)
    category, hypernym = subject.head.category, subject.head.hypernym
    if hypernym and chance.happens(0.35):
        predicate = inventory()["NOUN", hypernym]
    else:
        category = {"PER": "person", "LOC": "place", "ORG": "group", "": "person"}.get(category, category)
        predicate = draw_adjective(chance, category, subject.head.name)
    negated, tense = chance.happens(0.15), chance.weighted(("present", "past"), (0.7, 0.3))
    return Clause(predicate, subject, negated=negated, tense=tense)


def _draw_argument(chance: Chance, classes: frozenset[str], role: str, simple: bool) -> Nominal:
    names = [NAME_CLASS[category] for category in sorted(classes) if category in NAME_CLASS]
    kind = chance.weighted(("noun", "name", "pronoun"), (0.7, 0.18 if names else 0, 0.12 if "person" in classes else 0))
    if kind == "pronoun":
        pronoun = chance.pick(PRONOUNS)
        return Nominal(pronoun, plural=pronoun.name in PLURAL_PRONOUNS)
    if kind == "name":
        return _draw_name(chance, chance.pick(names), role)
    return _draw_noun(chance, _nouns(classes), role, simple)


def _draw_name(chance: Chance, category: str, role: str) -> Nominal:
    head = _names(category).draw(chance, role)
    return Nominal(head, surname=_names(category, head.name).draw(chance, head.name) if chance.happens(0.25) else None)


def _draw_noun(chance: Chance, nouns: Options, role: str, simple: bool) -> Nominal:
    noun = nouns.draw(chance, role)
    adjectives = tuple(
        draw_adjective(chance, noun.category, noun.name) for _ in range(chance.weighted((0, 1, 2), (0.42, 0.48, 0.1)))
    )
    plural, number = chance.happens(0.3), None
    if plural and chance.happens(0.3):
        number = chance.pick(("two", "three", "four", "ten", str(2 + chance.below(98))))
    determiner: str | None = chance.weighted(("the", "a", "this", "every"), (0.55, 0.3, 0.1, 0.05))
    if (plural and determiner in ("a", "every")) or (number and determiner == "a"):
        determiner = "the" if not number else None
    return Nominal(
        noun,
        plural,
        determiner,
        tuple(dict.fromkeys(adjectives)),
        intensified=bool(adjectives) and chance.happens(0.15),
        number=number,
        possessor=_draw_possessor(chance, noun) if not simple and chance.happens(0.12) else None,
        relative=_draw_relative(chance, noun) if not simple and chance.happens(0.06) else None,
        conjunct=_draw_conjunct(chance, noun, role) if not simple and chance.happens(0.08) else None,
    )


def _draw_possessor(chance: Chance, noun: Concept) -> Nominal:
    classes = frozenset({"person", "group", "place"}) - {noun.category}
    return _draw_argument(chance, classes, noun.name, simple=True)


def _draw_relative(chance: Chance, noun: Concept) -> Clause | None:
    verbs = _verbs_of(noun.category)
    return _draw_verbal(chance, verbs.draw(chance, noun.name), None, modest=True) if verbs.concepts else None


def _draw_conjunct(chance: Chance, noun: Concept, role: str) -> tuple[str, Nominal]:
    nouns = _nouns(frozenset({noun.category}), noun.name)
    return chance.weighted(("and", "or"), (0.75, 0.25)), _draw_noun(chance, nouns, role, simple=True)


def draw_obliques(chance: Chance, verb: Concept, probability: float = 1.0) -> tuple[tuple[str, Nominal], ...]:
    """What is said of place or company: an adposition with its nominal, or nothing."""
    if not chance.happens(probability):
        return ()
    categories = ("place", "artefact", "person", "plant")
    category = chance.weighted(categories, [affinity(verb.name, category) for category in categories])
    adposition = chance.pick(ADPOSITIONS_OF[category].split())
    return ((adposition, _draw_argument(chance, frozenset({category}), f"{verb.name}/{adposition}", simple=True)),)


def draw_adverb(chance: Chance, verb: Concept) -> Concept:
    """An adverb that goes with the verb."""
    return _adverbs().draw(chance, verb.name)


def draw_adjective(chance: Chance, category: str, noun: str) -> Concept:
    """An adjective that goes with a noun of that class."""
    return _adjectives(category).draw(chance, noun)


class Options:
    """Concepts that one is drawn of, by frequency and by its affinity with a role."""

    def __init__(self, concepts: Iterable[Concept]):
        self.concepts = tuple(concepts)
        self._totals: dict[str, list[float]] = {}

    def draw(self, chance: Chance, role: str) -> Concept:
        """One of them."""
        if role not in self._totals:
            self._totals[role] = list(accumulate(each.weight * affinity(role, each.name) for each in self.concepts))
        return chance.among(self.concepts, self._totals[role])


@cache
def _verbs(modest: bool) -> tuple[list[Concept], list[float]]:
    """Those that a clause can have, with the running totals of their weights."""
    verbs = [verb for verb in VERBS if not (modest and verb.clausal)]
    return verbs, list(accumulate(verb.weight for verb in verbs))


@cache
def _nouns(classes: frozenset[str], without: str = "") -> Options:
    return Options(noun for noun in NOUNS if noun.category in classes and noun.name != without)


@cache
def _names(category: str, without: str = "") -> Options:
    return Options(name for name in NAMES if name.category == category and name.name != without)


@cache
def _verbs_of(category: str) -> Options:
    """Those whose subjects are of a class."""
    return Options(verb for verb in VERBS if category in verb.subjects and not verb.clausal)


@cache
def _adverbs() -> Options:
    return Options(adverb for adverb in ADVERBS if adverb.name != "very")


@cache
def _adjectives(category: str) -> Options:
    return Options(adjective for adjective in ADJECTIVES if category in adjective.subjects)
