"""Sentences that are wrong in one thing: word order or agreement of their language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from babelscope.world.chance import Chance
from babelscope.world.family import Grammar
from babelscope.world.meaning import Clause
from babelscope.world.realise import Node, realise

LETTERS = {
    "DET": "d",
    "ADJ": "a",
    "NOUN": "n",
    "PROPN": "m",
    "PRON": "m",
    "VERB": "v",
    "PART": "t",
    "ADV": "r",
    "ADP": "p",
}
"""UPOS -> the letter that stands for it in a pattern; the auxiliaries are `b` (be) and `w` (will)."""

ORDERS: dict[str, tuple[Any, ...]] = {
    "order": ("SVO", "SOV", "VSO"),
    "adjective_after": (False, True),
    "postpositions": (False, True),
    "determiner_after": (False, True),
    "negation_after": (False, True),
    "adverb_first": (False, True),
}
"""The features of word order that show in plain clauses."""


def violate(chance: Chance, clause: Clause, grammar: Grammar) -> Node:
    """The tree of a plain clause with one fault: a rule of another grammar's word order, or an agreement missed.

    The words are never those of a well-formed sentence with another meaning.
    """
    orders, tree = list(_misordered(clause, grammar)), realise(clause, grammar)
    agreeing = [node for node in tree.surface() if _agrees(node, grammar)]
    if orders and (not agreeing or chance.happens(0.5)):
        return chance.pick(orders)
    node = chance.pick(agreeing)
    node.features = (
        tuple(f for f in node.features if f != "plural") if "plural" in node.features else ("plural", *node.features)
    )
    return tree


def _misordered(clause: Clause, grammar: Grammar) -> Iterator[Node]:
    for name, values in ORDERS.items():
        for value in values:
            tree = realise(clause, replace(grammar, **{name: value}))
            if not pattern(grammar).fullmatch(letters(tree)):
                yield tree


def _agrees(node: Node, grammar: Grammar) -> bool:
    """Whether a word shows the number of another: a verb, copula or adjective, where the language has an ending."""
    agreeing = node.upos in ("VERB", "ADJ") or node.deprel == "cop"
    return agreeing and bool(grammar.ending(node.upos, "plural"))


def letters(tree: Node) -> str:
    """One letter a word, as patterns use them, without the final punctuation."""
    return "".join(_letter(node) for node in tree.surface() if node.upos != "PUNCT")


def _letter(node: Node) -> str:
    if node.upos == "AUX":
        return "b" if node.deprel == "cop" else "w"
    return LETTERS[node.upos]


@cache
def pattern(grammar: Grammar) -> re.Pattern[str]:
    """What the `letters` of the well-formed plain clauses of a language match, and little else."""
    article = "d" if grammar.definite_article and grammar.indefinite_article else "d?"
    noun = "na*" if grammar.adjective_after else "a*n"
    nominal = f"(?:{noun}{article}|m)" if grammar.determiner_after else f"(?:{article}{noun}|m)"
    oblique = f"(?:{nominal}p)?" if grammar.postpositions else f"(?:p{nominal})?"
    verb = "vt?" if grammar.negation_after else "t?v"
    verb = f"{verb}w?" if grammar.order == "SOV" else f"w?{verb}"
    verb = f"r?{verb}" if grammar.adverb_first else f"{verb}r?"
    copula = "bt?" if grammar.negation_after else "t?b"
    copular = f"{nominal}a{copula}" if grammar.order == "SOV" else f"{nominal}{copula}a"
    verbal = {
        "SVO": f"{nominal}{verb}{nominal}?{oblique}",
        "SOV": f"{nominal}{oblique}{nominal}?{verb}",
        "VSO": f"{verb}{nominal}{nominal}?{oblique}",
    }[grammar.order]
    return re.compile(f"{verbal}|{copular}")
