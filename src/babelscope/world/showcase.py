"""The page that shows the family side by side: `python -m babelscope.world.showcase > docs/languages.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from babelscope.world.concepts import Concept, inventory
from babelscope.world.family import Grammar, Member
from babelscope.world.languages import FAMILY
from babelscope.world.meaning import Clause, Nominal
from babelscope.world.realise import Node, realise, write
from babelscope.world.world import Inflector, World

INTRODUCTION = """\
# The languages of the artificial world

*This page is what `python -m babelscope.world.showcase` prints. All of it is for seed 0.*

Nine languages express the same meanings, each with its own words, word order, endings and script. A daughter language
has its parent's roots after regular sound changes, some of them replaced by new ones; an isolate has none in common
with anybody. So how closely two languages are related is known and need not be estimated:
`World().relatedness("qaa", "qae")`.

- **Cognates**: the share of concepts whose roots descend from the same root as the source's.
- **Grammar**: the share of word-order and category features in which the language differs from the source.
- **Seen** languages are in the text that the shipped encoders are pre-trained on, **unseen** ones are not.
"""

WORDS = """\
## Words

Digits, punctuation and every second name (PER0, LOC0, ...) are alike in all languages. About half of the nouns, verbs
and adjectives share their root with another part of speech, so that only the sentence tells which one is meant: compare
the last two columns.
"""

SENTENCES = """\
## Sentences

Under each word: its meaning (PL plural, PST past, ACC accusative; only what the word itself shows), then its relation
and the number of its head, in the style of Universal Dependencies.
"""

TREES = """\
## Trees

The last sentence as a tree, in the source, the far relative and the isolate. Words stand in their order from top to
bottom; what hangs on a branch depends on the word that the branch leads to. All trees are projective.
"""

ABBREVIATIONS = {"plural": "PL", "past": "PST", "accusative": "ACC"}
DRAWN = ("qaa", "qae", "qaf")


def concept(upos: str, name: str) -> Concept:
    """One concept of the inventory."""
    return inventory()[upos, name]


def the(noun: str, determiner: str | None = "the", adjective: str | None = None, **rest: Any) -> Nominal:
    """A noun phrase: `the("dog", adjective="old", plural=True)`."""
    adjectives = (concept("ADJ", adjective),) if adjective else ()
    return Nominal(concept("NOUN", noun), determiner=determiner, adjectives=adjectives, **rest)


def examples() -> dict[str, Clause]:
    """English translation -> meaning."""
    verb = {name: concept("VERB", name) for name in ("love", "see", "buy", "hope", "find", "sing")}
    bought = Clause(verb["buy"], None, the("apple", None, plural=True, number="three"), tense="past")
    finding = Clause(
        verb["find"],
        the("friend", "a", conjunct=("and", the("teacher"))),
        the("house"),
        adverb=concept("ADV", "quickly"),
        tense="future",
    )
    return {
        "The old farmer loves the small dogs.": Clause(
            verb["love"], the("farmer", adjective="old"), the("dog", adjective="small", plural=True)
        ),
        "The dogs of the king did not see PER0 in the forest.": Clause(
            verb["see"],
            the("dog", plural=True, possessor=the("king")),
            Nominal(concept("PROPN", "PER0")),
            (("in", the("forest")),),
            negated=True,
            tense="past",
        ),
        "I hope that a friend and the teacher will quickly find the house.": Clause(
            verb["hope"], Nominal(concept("PRON", "I")), complement=finding
        ),
        "This story is not a secret, because 12 singers sang!": Clause(
            concept("NOUN", "secret"),
            the("story", "this"),
            negated=True,
            subordinate=("because", Clause(verb["sing"], the("singer", None, plural=True, number="12"), tense="past")),
            mark="!",
        ),
        "The child who bought three apples is happy.": Clause(concept("ADJ", "happy"), the("child", relative=bought)),
    }


def page(world: World) -> str:
    """The whole page, in Markdown."""
    meanings = examples()
    *_, (translation, last) = meanings.items()
    parts = [INTRODUCTION, language_table(world), WORDS, word_table(world), SENTENCES]
    for english, meaning in meanings.items():
        parts += [f"### {english}\n", block("\n\n".join(interlinear(world, code, meaning) for code in FAMILY))]
    parts += [TREES, f"*{translation}*\n"]
    for code in DRAWN:
        parts += [f"{code}, {FAMILY[code].role}:\n", block("\n".join(draw(world, code, last)))]
    return "\n".join(parts)


def language_table(world: World) -> str:
    """Role, script, grammar and relatedness of each language."""
    heads = ["code", "role", "script", "order", "adjective", "adposition", "cognates", "grammar"]
    return table(heads, [_language_row(world, code, member) for code, member in FAMILY.items()])


def _language_row(world: World, code: str, member: Member) -> list[str]:
    grammar, related = member.grammar, world.relatedness("qaa", code)
    adjective = "after the noun" if grammar.adjective_after else "before the noun"
    adposition = "after" if grammar.postpositions else "before"
    shares = [f"{related.cognates:.0%}", f"{related.typology:.0%}"]
    return [code, member.role, member.language.script, grammar.order, adjective, adposition, *shares]


def word_table(world: World) -> str:
    """A few concepts in all languages, the last two with one root in the source."""
    shown = [("NOUN", "dog"), ("NOUN", "house"), ("VERB", "see"), ("ADJ", "big"), ("PROPN", "PER0"), ("PROPN", "PER1")]
    concepts = [*(concept(*entry) for entry in shown), *_homographs(world)]
    rows = [[code, *(_inflector(world, code)(entry, ()) for entry in concepts)] for code in FAMILY]
    return table(["code", *(f"{entry.name} ({entry.upos})" for entry in concepts)], rows)


def _homographs(world: World) -> tuple[Concept, Concept]:
    """The first noun of the source that shares its root with a verb, and that verb."""
    roots = world.lexicons["qaa"]
    verbs = {roots[entry].form: entry for entry in roots if entry.upos == "VERB"}
    return next(
        (entry, verbs[root.form]) for entry, root in roots.items() if entry.upos == "NOUN" and root.form in verbs
    )


def interlinear(world: World, code: str, meaning: Clause) -> str:
    """Number, form, gloss, and relation with head of every word, in columns."""
    grammar = FAMILY[code].grammar
    root = realise(meaning, grammar)
    words = write(root, _inflector(world, code), code).words
    columns = [
        (str(number), word.form, gloss(node, grammar), f"{word.deprel} {word.head}")
        for number, (node, word) in enumerate(zip(root.surface(), words, strict=True), 1)
    ]
    lines = align(list(zip(*columns, strict=True)))
    return "\n".join(f"{start:5}{line}" for start, line in zip_longest([code], lines, fillvalue=""))


def draw(world: World, code: str, meaning: Clause) -> list[str]:
    """A tree as text: one word a line in the sentence's order, with part of speech, relation and gloss."""
    grammar = FAMILY[code].grammar
    root = realise(meaning, grammar)
    words = write(root, _inflector(world, code), code).words
    rows = [
        (branch + word.form, word.upos, word.deprel, gloss(node, grammar))
        for branch, node, word in zip(branches(root), root.surface(), words, strict=True)
    ]
    return align(rows)


def branches(node: Node, here: str = "", above: str = "", below: str = "") -> Iterator[str]:
    """The lines that lead to each word of a tree: `here` to its root, `above` and `below` to what stands beside it."""
    for number, child in enumerate(node.before):
        first = number == 0
        yield from branches(
            child, above + ("┌─ " if first else "├─ "), above + ("   " if first else "│  "), above + "│  "
        )
    yield here
    for number, child in enumerate(node.after, 1):
        last = number == len(node.after)
        yield from branches(
            child, below + ("└─ " if last else "├─ "), below + "│  ", below + ("   " if last else "│  ")
        )


def gloss(node: Node, grammar: Grammar) -> str:
    """What a word means, with the features that it shows by an ending."""
    if node.concept is None:
        return node.text
    shown = [ABBREVIATIONS[feature] for feature in node.features if grammar.ending(node.concept.upos, feature)]
    return "-".join([node.concept.name, *shown])


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of equal length with their columns two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (heads, ["---"] * len(heads), *rows))


def block(text: str) -> str:
    """A Markdown block of preformatted text."""
    return f"```text\n{text}\n```\n"


def _inflector(world: World, code: str) -> Inflector:
    return Inflector(world.lexicons[code], FAMILY[code])


if __name__ == "__main__":
    print(page(World()), end="")
