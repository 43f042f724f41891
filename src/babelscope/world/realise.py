"""Realisation: a meaning becomes a sentence of one language, as a dependency tree in Universal Dependencies style."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from babelscope.core.examples import Sentence, Word
from babelscope.world.concepts import Concept, inventory
from babelscope.world.family import Grammar
from babelscope.world.meaning import BE, Clause, Nominal

Inflect = Callable[[Concept, tuple[str, ...]], str]
"""(concept, features) -> written form. Features: "plural", "past", "accusative"."""


@dataclass(slots=True)
class Node:
    """A word with its dependents to the left and right, both in surface order.

    `meaning` is the path of what it expresses, equal in all languages; None for punctuation.
    """

    concept: Concept | None
    upos: str
    deprel: str
    meaning: str | None
    features: tuple[str, ...] = ()
    text: str = ""
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)

    def add(self, node: Node | None, after: bool = False) -> None:
        """Attach a dependent at the outer edge of one side."""
        if node is not None and after:
            self.after.append(node)
        elif node is not None:
            self.before.insert(0, node)

    def surface(self) -> Iterator[Node]:
        """The nodes of this subtree from left to right."""
        for child in self.before:
            yield from child.surface()
        yield self
        for child in self.after:
            yield from child.surface()


def realise(clause: Clause, grammar: Grammar) -> Node:
    """The dependency tree of a whole sentence with its final punctuation."""
    root = _clause(clause, grammar, "root", "s")
    root.add(Node(None, "PUNCT", "punct", None, text=clause.mark), after=True)
    return root


def write(root: Node, inflect: Inflect, identifier: str) -> Sentence:
    """The sentence of a tree."""
    nodes = list(root.surface())
    position = {id(node): place for place, node in enumerate(nodes, 1)}
    heads = {id(child): position[id(node)] for node in nodes for child in (*node.before, *node.after)}
    words = [Word(form(node, inflect), node.upos, heads.get(id(node), 0), node.deprel) for node in nodes]
    return Sentence(identifier, tuple(words))


def form(node: Node, inflect: Inflect) -> str:
    """How one word is written."""
    return inflect(node.concept, node.features) if node.concept else node.text


def _word(upos: str, name: str, deprel: str, meaning: str) -> Node:
    return Node(inventory()[upos, name], upos, deprel, meaning)


def _clause(clause: Clause, grammar: Grammar, deprel: str, path: str, plural_noun: bool = False) -> Node:
    """A clause; `plural_noun` is the number of the noun that a relative clause modifies, its subject."""
    plural = _is_plural(clause.subject) if clause.subject else plural_noun
    if clause.predicate.upos == "VERB":
        root = _verb(clause, grammar, deprel, path, plural)
    else:
        root = _copular(clause, grammar, deprel, path, plural)
    _arguments(root, clause, grammar, path)
    _further_clauses(root, clause, grammar, path)
    return root


def _verb(clause: Clause, grammar: Grammar, deprel: str, path: str, plural: bool) -> Node:
    features = ("plural",) * plural + ("past",) * (clause.tense == "past")
    root = Node(clause.predicate, "VERB", deprel, f"{path}.verb", features)
    if clause.negated:
        root.add(_word("PART", "not", "advmod", f"{path}.not"), grammar.negation_after)
    if clause.tense == "future":
        root.add(_word("AUX", "will", "aux", f"{path}.will"), after=grammar.order == "SOV")
    if clause.adverb:
        root.add(Node(clause.adverb, "ADV", "advmod", f"{path}.adverb"), after=not grammar.adverb_first)
    return root


def _copular(clause: Clause, grammar: Grammar, deprel: str, path: str, plural: bool) -> Node:
    """The predicate is the head, the copula its dependent, as in UD."""
    features = ("plural",) if plural and (clause.predicate.upos == "NOUN" or grammar.adjective_plural) else ()
    root = Node(clause.predicate, clause.predicate.upos, deprel, f"{path}.predicate", features)
    if clause.predicate.upos == "NOUN" and not plural:
        root.add(_determiner("a", grammar, f"{path}.predicate"), grammar.determiner_after)
    tense = ("plural",) * plural + ("past",) * (clause.tense == "past")
    copula = [Node(BE, "AUX", "cop", f"{path}.be", tense)]
    if clause.negated:
        copula.insert(1 if grammar.negation_after else 0, _word("PART", "not", "advmod", f"{path}.not"))
    verb_last = grammar.order == "SOV"
    for node in copula if verb_last else reversed(copula):
        root.add(node, after=verb_last)
    return root


def _arguments(root: Node, clause: Clause, grammar: Grammar, path: str) -> None:
    subject = _nominal(clause.subject, grammar, "nsubj", f"{path}.subject") if clause.subject else None
    thing = _nominal(clause.object, grammar, "obj", f"{path}.object", "accusative") if clause.object else None
    obliques = [
        _oblique(adposition, nominal, grammar, "obl", f"{path}.oblique{k}")
        for k, (adposition, nominal) in enumerate(clause.obliques)
    ]
    if grammar.order == "SOV":
        for node in (thing, *obliques, subject):
            root.add(node)
        return
    if grammar.order == "VSO" and clause.predicate.upos == "VERB":  # a copula's subject comes first there too
        root.add(subject, after=True)
    else:
        root.add(subject)
    for node in (thing, *obliques):
        root.add(node, after=True)


def _further_clauses(root: Node, clause: Clause, grammar: Grammar, path: str) -> None:
    if clause.complement:
        root.add(_subordinate("that", clause.complement, grammar, "ccomp", f"{path}.complement"), after=True)
    if clause.subordinate:
        conjunction, other = clause.subordinate
        root.add(_subordinate(conjunction, other, grammar, "advcl", f"{path}.subordinate"), after=True)
    if clause.coordinate:
        conjunction, other = clause.coordinate
        second = _clause(other, grammar, "conj", f"{path}.and")
        root.add(_conjunct(conjunction, second, f"{path}.and", comma=True), after=True)


def _subordinate(conjunction: str, clause: Clause, grammar: Grammar, deprel: str, path: str) -> Node:
    root = _clause(clause, grammar, deprel, path)
    root.add(_word("SCONJ", conjunction, "mark", f"{path}.mark"), after=grammar.postpositions)
    root.add(Node(None, "PUNCT", "punct", None, text=","))
    return root


def _conjunct(conjunction: str, root: Node, path: str, comma: bool = False) -> Node:
    root.add(_word("CCONJ", conjunction, "cc", f"{path}.cc"))
    if comma:
        root.add(Node(None, "PUNCT", "punct", None, text=","))
    return root


def _nominal(nominal: Nominal, grammar: Grammar, deprel: str, path: str, case: str = "") -> Node:
    """A noun phrase, built from the noun outwards."""
    inflected = nominal.head.upos == "NOUN"
    features = ("plural",) * (nominal.plural and inflected) + ((case,) if case and inflected else ())
    root = Node(nominal.head, nominal.head.upos, deprel, f"{path}.head", features)
    if nominal.surname:
        root.add(Node(nominal.surname, "PROPN", "flat", f"{path}.surname"), after=True)
    _add_adjectives(root, nominal, grammar, path)
    if nominal.number:
        root.add(_number(nominal.number, f"{path}.number"))
    if nominal.determiner:
        root.add(_determiner(nominal.determiner, grammar, path), grammar.determiner_after)
    _extend_nominal(root, nominal, grammar, path, case)
    return root


def _add_adjectives(root: Node, nominal: Nominal, grammar: Grammar, path: str) -> None:
    features = ("plural",) if nominal.plural and grammar.adjective_plural else ()
    for k, adjective in enumerate(nominal.adjectives):
        node = Node(adjective, "ADJ", "amod", f"{path}.adjective{k}", features)
        if nominal.intensified and k == 0:
            node.add(_word("ADV", "very", "advmod", f"{path}.very"))
        root.add(node, grammar.adjective_after)


def _extend_nominal(root: Node, nominal: Nominal, grammar: Grammar, path: str, case: str) -> None:
    """Possessor, relative clause and conjunct; a conjunct stands in the same case."""
    if nominal.possessor:
        possessor = _oblique("of", nominal.possessor, grammar, "nmod", f"{path}.possessor")
        root.add(possessor, after=not grammar.possessor_first)
    if nominal.relative:
        relative = _clause(nominal.relative, grammar, "acl:relcl", f"{path}.relative", nominal.plural)
        relative.add(_word("PRON", "who", "nsubj", f"{path}.who"), after=grammar.relative_first)
        root.add(relative, after=not grammar.relative_first)
    if nominal.conjunct:
        conjunction, other = nominal.conjunct
        node = _nominal(other, grammar, "conj", f"{path}.and", case)
        root.add(_conjunct(conjunction, node, f"{path}.and"), after=True)


def _number(number: str, path: str) -> Node:
    if number.isdigit():
        return Node(None, "NUM", "nummod", path, text=number)
    return _word("NUM", number, "nummod", path)


def _determiner(name: str, grammar: Grammar, path: str) -> Node | None:
    missing = (name == "the" and not grammar.definite_article) or (name == "a" and not grammar.indefinite_article)
    return None if missing else _word("DET", name, "det", f"{path}.determiner")


def _oblique(adposition: str, nominal: Nominal, grammar: Grammar, deprel: str, path: str) -> Node:
    root = _nominal(nominal, grammar, deprel, path)
    root.add(_word("ADP", adposition, "case", f"{path}.case"), after=grammar.postpositions)
    return root


def _is_plural(nominal: Nominal) -> bool:
    return nominal.plural or bool(nominal.conjunct and nominal.conjunct[0] == "and")
