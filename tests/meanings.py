"""What sentences of the world mean and imply, by brute force; and judgements of them."""

from __future__ import annotations

from itertools import combinations, islice, permutations

from babelscope.world.chance import Chance
from babelscope.world.judgements import DRAWS, Judgement
from babelscope.world.meaning import Clause, Nominal


def judgements(task: str, count: int) -> list[Judgement]:
    return list(islice(DRAWS[task](Chance("judgement test", task)), count))


def facts(clause: Clause) -> set[tuple]:
    """All that an event has that a clause describes: with every noun its hypernym, the adposition with its noun."""
    oblique = clause.obliques[0] if clause.obliques else None
    found = {("tense", clause.tense), ("predicate", clause.predicate.name), ("object", clause.object is None)}
    found |= {("adverb", clause.adverb.name)} if clause.adverb else set()
    found |= {("adposition", oblique[0])} if oblique else set()
    for site, nominal in (("s", clause.subject), ("o", clause.object), ("x", oblique and oblique[1])):
        if nominal:
            found |= {(site, nominal.plural, nominal.determiner, nominal.number), (site, nominal.head.name)}
            found |= {(site, nominal.head.hypernym)} if nominal.head.hypernym else set()
            found |= {(site, adjective.name) for adjective in nominal.adjectives}
    return found


def requirements(clause: Clause) -> set[tuple]:
    """The facts that an event must have for the clause to describe it: a hypernym asks for no more than itself."""
    bare = {
        (site, nominal.head.hypernym)
        for site, nominal in (
            ("s", clause.subject),
            ("o", clause.object),
            ("x", clause.obliques and clause.obliques[0][1]),
        )
        if nominal and nominal.head.hypernym
    }
    return facts(clause) - bare


def at_odds(one: Clause, other: Clause) -> bool:
    """Whether two events cannot both be: an antonym in one place, in all else one is the other said more exactly."""
    for site in ("predicate", "adverb"):
        mine, theirs = getattr(one, site), getattr(other, site)
        if mine and theirs and mine.antonym == theirs.name:
            turned = one._replace(**{site: theirs})
            if requirements(other) <= facts(turned) or requirements(turned) <= facts(other):
                return True
    return False


def judged(premise: Clause, hypothesis: Clause) -> str:
    """Whether the hypothesis holds in all, none or some of the worlds in which the premise does."""
    events = [clause._replace(negated=False) for clause in (premise, hypothesis)]
    worlds = [world for size in range(3) for world in combinations(events, size)]
    worlds = [world for world in worlds if not any(at_odds(*two) for two in permutations(world, 2))]

    def holds(clause: Clause, world: tuple[Clause, ...]) -> bool:
        return any(requirements(clause) <= facts(event) for event in world) != clause.negated

    values = {holds(hypothesis, world) for world in worlds if holds(premise, world)}
    return {(True,): "entailment", (False,): "contradiction"}.get(tuple(values), "neutral")


def canonical(clause: Clause) -> object:
    """A meaning in which it does not matter how it is said."""
    clauses = [clause, *([clause.coordinate[1]] if clause.coordinate else [])]
    return clause.coordinate and clause.coordinate[0], sorted(repr(_plainly(one)) for one in clauses)


def _plainly(clause: Clause) -> object:
    predicate, negated = clause.predicate.name, clause.negated
    if clause.predicate.antonym and clause.predicate.antonym < predicate:
        predicate, negated = clause.predicate.antonym, not negated
    nominals = [clause.subject, clause.object, *(nominal for _, nominal in clause.obliques)]
    said = [sorted(repr(_nominal(one)) for one in (nominal, *_joined(nominal))) for nominal in nominals if nominal]
    return predicate, negated, clause.tense, clause.adverb, [word for word, _ in clause.obliques], said


def _joined(nominal: Nominal) -> list[Nominal]:
    return [nominal.conjunct[1]] if nominal.conjunct else []


def _nominal(nominal: Nominal) -> Nominal:
    digits = {"two": "2", "three": "3", "four": "4", "ten": "10"}
    return nominal._replace(conjunct=None, number=digits.get(nominal.number, nominal.number))
