"""Plain meanings, small changes of them, and what a change does to their truth.

A plain clause has one predicate with its arguments, at most one oblique and one adverb, and no clause inside it.
Every edit takes a plain clause and gives another, or None where it finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from babelscope.world.chance import Chance
from babelscope.world.concepts import Concept, concepts_of, inventory
from babelscope.world.meaning import Clause, Nominal, draw_adjective, draw_adverb, draw_clause, draw_obliques

Edit = Callable[[Chance, Clause], Clause | None]


def draw_plain(chance: Chance, negated: bool = False) -> Clause:
    """A plain clause with a verb or an adjective as its predicate, negated or not as asked."""
    while True:
        clause = draw_clause(chance, modest=True)
        if clause.predicate.upos != "NOUN":
            break
    for site, nominal in nominals(clause).items():
        clause = with_nominal(clause, site, _plain(nominal))
    return clause._replace(negated=negated)


def _plain(nominal: Nominal) -> Nominal:
    """Without what takes part in no edit: numbers, surnames, `very`, and `every`, which turns entailment round."""
    odd = nominal.determiner in (None, "every") and nominal.head.upos == "NOUN"
    determiner = "the" if odd else nominal.determiner
    return nominal._replace(determiner=determiner, intensified=False, number=None, surname=None)


def nominals(clause: Clause) -> dict[str, Nominal]:
    """Subject, object and oblique, by these names, as far as the clause has them."""
    oblique = clause.obliques[0][1] if clause.obliques else None
    by_site = {"subject": clause.subject, "object": clause.object, "oblique": oblique}
    return {site: nominal for site, nominal in by_site.items() if nominal}


def with_nominal(clause: Clause, site: str, nominal: Nominal) -> Clause:
    """The clause with another subject, object or oblique; the oblique's adposition stays."""
    if site == "oblique":
        return clause._replace(obliques=((clause.obliques[0][0], nominal),))
    return clause._replace(subject=nominal) if site == "subject" else clause._replace(object=nominal)


# Edits that make a clause say more or less


def drop(chance: Chance, clause: Clause) -> Clause | None:
    """Leave out an adjective, the adverb or the oblique."""
    options = [
        with_nominal(clause, site, nominal._replace(adjectives=_without(nominal.adjectives, adjective)))
        for site, nominal in nominals(clause).items()
        for adjective in nominal.adjectives
    ]
    options += [clause._replace(adverb=None)] if clause.adverb else []
    options += [clause._replace(obliques=())] if clause.obliques else []
    return chance.pick(options) if options else None


def add(chance: Chance, clause: Clause) -> Clause | None:
    """Add an adjective to a noun that has none, an adverb, or an oblique."""
    bare = [site for site, nominal in nominals(clause).items() if _is_noun(nominal) and not nominal.adjectives]
    verbal = clause.predicate.upos == "VERB"
    free = bare + ["adverb"] * (verbal and not clause.adverb) + ["adjunct"] * (verbal and not clause.obliques)
    if not free:
        return None
    where = chance.pick(free)
    if where == "adverb":
        return clause._replace(adverb=draw_adverb(chance, clause.predicate))
    if where == "adjunct":
        return clause._replace(obliques=_draw_adjunct(chance, clause.predicate))
    nominal = nominals(clause)[where]
    adjective = draw_adjective(chance, nominal.head.category, nominal.head.name)
    return with_nominal(clause, where, nominal._replace(adjectives=(adjective,)))


def generalise(chance: Chance, clause: Clause) -> Clause | None:
    """A noun becomes its hypernym."""
    return _other_head(chance, clause, lambda head: [inventory()["NOUN", head.hypernym]] if head.hypernym else [])


def specialise(chance: Chance, clause: Clause) -> Clause | None:
    """A hypernym becomes one of its class."""
    return _other_head(chance, clause, _hyponyms)


# Edits that change what is said


def oppose(chance: Chance, clause: Clause) -> Clause | None:
    """The predicate or the adverb becomes its antonym."""
    antonyms = {site: antonym(getattr(clause, site)) for site in ("predicate", "adverb")}
    options = [_with(clause, site, opposite) for site, opposite in antonyms.items() if opposite]
    return chance.pick(options) if options else None


def exchange(chance: Chance, clause: Clause) -> Clause | None:
    """A word becomes another of its kind that neither implies nor excludes it."""
    options = [*nominals(clause), "predicate", "adverb", "adjective"]
    where = chance.pick(options)
    if where == "adjective":
        return _other_adjective(chance, clause)
    if where in ("predicate", "adverb"):
        others = _unrelated(getattr(clause, where)) if getattr(clause, where) else []
        return _with(clause, where, chance.pick(others)) if others else None
    nominal = nominals(clause)[where]
    others = _unrelated(nominal.head)
    return with_nominal(clause, where, nominal._replace(head=chance.pick(others))) if others else None


def turn(chance: Chance, clause: Clause) -> Clause | None:
    """Subject and object change places, if both are nouns or names."""
    pronouns = [nominal.head.upos == "PRON" for nominal in (clause.subject, clause.object) if nominal]
    return clause._replace(subject=clause.object, object=clause.subject) if pronouns == [False, False] else None


def edited(chance: Chance, clause: Clause, edits: Sequence[Edit]) -> Clause:
    """The clause after one of the edits that apply to it; unchanged if the one drawn does not."""
    return chance.pick(edits)(chance, clause) or clause


# Truth


def antonym(concept: Concept | None) -> Concept | None:
    """The antonym of a concept, where it has one."""
    return inventory()[concept.upos, concept.antonym] if concept and concept.antonym else None


def implies(first: Clause, second: Clause) -> bool:
    """Whether whatever the first clause describes, the second does too. Negation is not looked at."""
    if (first.predicate, first.tense) != (second.predicate, second.tense) or second.adverb not in (None, first.adverb):
        return False
    ours, theirs = nominals(first), nominals(second)
    if theirs.keys() - ours.keys() or {"subject", "object"} & (ours.keys() - theirs.keys()):
        return False
    if second.obliques and first.obliques[0][0] != second.obliques[0][0]:
        return False
    return all(_implies(ours[site], nominal) for site, nominal in theirs.items())


def excludes(first: Clause, second: Clause) -> bool:
    """Whether the clauses cannot both hold: antonyms, all else being the same or said more exactly in one of them.

    Negation is not looked at.
    """
    for site in ("predicate", "adverb"):
        opposite = antonym(getattr(first, site))
        if opposite and getattr(second, site) is opposite:
            alike = _with(first, site, opposite)
            return implies(alike, second) or implies(second, alike)
    return False


def inference(premise: Clause, hypothesis: Clause) -> str:
    """What a premise says of a hypothesis: entailment, contradiction or neutral."""
    denied = "contradiction" if premise.negated != hypothesis.negated else "entailment"
    if premise.negated:  # what is denied is denied of everything that it covers
        return denied if implies(hypothesis, premise) else "neutral"
    if implies(premise, hypothesis):
        return denied
    if excludes(premise, hypothesis):
        return "entailment" if hypothesis.negated else "contradiction"
    return "neutral"


def _implies(first: Nominal, second: Nominal) -> bool:
    same = first.head is second.head or (
        second.head.upos == "NOUN" and (first.head.hypernym, first.head.upos) == (second.head.name, "NOUN")
    )
    alike = (first.plural, first.determiner) == (second.plural, second.determiner)
    return same and alike and set(second.adjectives) <= set(first.adjectives)


# Helpers


def _is_noun(nominal: Nominal) -> bool:
    return nominal.head.upos == "NOUN"


def _without(concepts: tuple[Concept, ...], concept: Concept) -> tuple[Concept, ...]:
    return tuple(other for other in concepts if other is not concept)


def _with(clause: Clause, site: str, concept: Concept) -> Clause:
    return clause._replace(adverb=concept) if site == "adverb" else clause._replace(predicate=concept)


def _draw_adjunct(chance: Chance, verb: Concept) -> tuple[tuple[str, Nominal], ...]:
    ((adposition, nominal),) = draw_obliques(chance, verb)
    return ((adposition, _plain(nominal)),)


def _other_head(chance: Chance, clause: Clause, others: Callable[[Concept], list[Concept]]) -> Clause | None:
    choices = {site: others(nominal.head) for site, nominal in nominals(clause).items() if _is_noun(nominal)}
    sites = [site for site, options in choices.items() if options]
    if not sites:
        return None
    site = chance.pick(sites)
    return with_nominal(clause, site, nominals(clause)[site]._replace(head=chance.pick(choices[site])))


def _other_adjective(chance: Chance, clause: Clause) -> Clause | None:
    sites = [site for site, nominal in nominals(clause).items() if nominal.adjectives]
    if not sites:
        return None
    site = chance.pick(sites)
    nominal = nominals(clause)[site]
    old = chance.pick(nominal.adjectives)
    others = [other for other in _unrelated(old, nominal.head.category) if other not in nominal.adjectives]
    adjectives = tuple(chance.pick(others) if adjective is old else adjective for adjective in nominal.adjectives)
    return with_nominal(clause, site, nominal._replace(adjectives=adjectives))


def _hyponyms(noun: Concept) -> list[Concept]:
    return [other for other in concepts_of("NOUN") if other.hypernym == noun.name and other.category == noun.category]


@cache
def _unrelated(concept: Concept, category: str = "") -> list[Concept]:
    """The concepts that can stand for this one (an adjective before nouns of a class) without a relation to it."""
    return [other for other in concepts_of(concept.upos) if other is not concept and _fits(other, concept, category)]


def _fits(other: Concept, concept: Concept, category: str) -> bool:
    if antonym(concept) is other or other.clausal or other.name in ("very", "who"):
        return False
    if concept.upos == "VERB":
        return (
            other.subjects >= concept.subjects
            and (other.objects or frozenset()) >= (concept.objects or frozenset())
            and bool(other.objects) == bool(concept.objects)
        )
    if concept.upos == "ADJ":
        return category in other.subjects if category else other.subjects >= concept.subjects
    if concept.upos == "PRON":
        return (concept.name == "they") == (other.name == "they")
    return other.category == concept.category and bool(other.hypernym) == bool(concept.hypernym)
