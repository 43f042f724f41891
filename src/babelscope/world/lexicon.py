"""Lexicons: how roots are coined, how a daughter language inherits them by sound change, how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import NamedTuple

from babelscope.world.chance import Chance
from babelscope.world.concepts import Concept, concepts_of, inventory

CONSONANTS, VOWELS = "ptkbdgmnslrvfhzjw", "aeiou"
OPEN_CLASSES = ("VERB", "ADJ", "NOUN")
PAIRED_CLASSES = (*OPEN_CLASSES, "ADV", "PROPN")
HOMOGRAPH_SHARE = 0.7
"""The share of nouns whose root also serves another part of speech: a verb, an adjective, an adverb or a name.

Of all nouns, verbs and adjectives of a language about half are ambiguous then; replaced roots lose some."""

SCRIPTS = {
    "Latn": {},
    "Cyrl": str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстувшжыз"),
    "Grek": str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβςδεφγηιξκλμνοπχρστυωψζϝϟ"),
}
"""Script -> one-to-one letter map from the Latin form in which lexicons are kept."""


class Root(NamedTuple):
    """A root in Latin letters, and the language that coined it: roots of one concept are cognates if it is the same."""

    form: str
    coined_in: str


Lexicon = Mapping[Concept, Root]


@dataclass(frozen=True, slots=True)
class SoundChange:
    """A regular change of letters: every match of `pattern` becomes `replacement`, in all words alike."""

    pattern: str
    replacement: str

    def __call__(self, root: str) -> str:
        """The root after this change."""
        return re.sub(self.pattern, self.replacement, root)


def sound_changes(*rules: str) -> tuple[SoundChange, ...]:
    """Sound changes from their short form: `sound_changes("t(?=[aeiou])>d", "h>")`."""
    return tuple(SoundChange(*rule.split(">")) for rule in rules)


def changed(root: Root, changes: Iterable[SoundChange]) -> Root:
    """The root after all changes, in their order."""
    form = root.form
    for change in changes:
        form = change(form)
    return Root(form, root.coined_in)


@cache
def shared_names() -> frozenset[Concept]:
    """The names that every language writes alike, in Latin letters."""
    return frozenset(name for name in concepts_of("PROPN") if int(name.name[3:]) % 2 == 0)


def coin_names(chance: Chance) -> dict[Concept, Root]:
    """Names of three syllables for the shared names, coined in no language of the family."""
    taken: set[str] = set()
    return {name: Root(_new_form(chance, 3, taken), "") for name in concepts_of("PROPN") if name in shared_names()}


def coin_lexicon(chance: Chance, shared: Lexicon, language: str) -> dict[Concept, Root]:
    """A lexicon of new roots for every concept, `shared` names as given."""
    own = [concept for concept in inventory().values() if concept not in shared]
    return dict(shared) | _coin(chance, own, {root.form for root in shared.values()}, language)


def inherit(
    chance: Chance, parent: Lexicon, changes: Sequence[SoundChange], replaced: float, language: str
) -> dict[Concept, Root]:
    """A daughter's lexicon: the parent's after sound change, a share of the concepts with new roots.

    Shared names stay as they are. New roots keep clear of the inherited ones, so no homograph arises that way.
    """
    fixed = shared_names()
    lexicon = {c: root if c in fixed else changed(root, changes) for c, root in parent.items()}
    lost = [concept for concept in lexicon if concept not in fixed and chance.happens(replaced)]
    return lexicon | _coin(chance, lost, {root.form for root in lexicon.values()}, language)


def cognate_share(first: Lexicon, second: Lexicon) -> float:
    """The share of concepts whose roots descend from one and the same; the names that all share do not count."""
    concepts = [concept for concept in first if concept not in shared_names()]
    return sum(first[c].coined_in == second[c].coined_in for c in concepts) / len(concepts)


def _coin(chance: Chance, concepts: Sequence[Concept], taken: set[str], language: str) -> dict[Concept, Root]:
    """New roots; `HOMOGRAPH_SHARE` of the nouns have the root of another part of speech."""
    roots: dict[Concept, Root] = {}
    partners = _homographs(chance, concepts)
    for concept in concepts:
        if concept in partners and partners[concept] in roots:
            roots[concept] = roots[partners[concept]]
        else:
            roots[concept] = Root(_new_form(chance, _syllables(chance, concept), taken), language)
    return roots


def _homographs(chance: Chance, concepts: Sequence[Concept]) -> dict[Concept, Concept]:
    """Pairs of a noun and another part of speech, both directions, until nouns or partners run out.

    Partners are of similar frequency, so that neither reading of a form can be neglected.
    """
    pools = {upos: _by_rough_frequency(chance, [c for c in concepts if c.upos == upos]) for upos in PAIRED_CLASSES}
    verbs, adjectives, nouns = (pools[upos][: round(HOMOGRAPH_SHARE * len(pools[upos]))] for upos in OPEN_CLASSES)
    others = [c for pair in zip_longest(verbs, adjectives, pools["ADV"], pools["PROPN"]) for c in pair if c is not None]
    pairs = list(zip(nouns, others, strict=False))
    return dict(pairs) | {second: first for first, second in pairs}


def _by_rough_frequency(chance: Chance, concepts: Sequence[Concept]) -> list[Concept]:
    """The most frequent first, weights blurred by up to a factor of two either way."""
    blurred = {concept: concept.weight * (0.5 + 1.5 * chance.below(1000) / 1000) for concept in concepts}
    return sorted(concepts, key=lambda concept: -blurred[concept])


def _syllables(chance: Chance, concept: Concept) -> int:
    if concept.upos in OPEN_CLASSES or concept.upos in ("PROPN", "ADV"):
        return chance.weighted((2, 3), (0.8, 0.2))
    return 1


def _new_form(chance: Chance, syllables: int, taken: set[str]) -> str:
    """A form that no other root has: consonant-vowel syllables, an open or a closed end."""
    while True:
        root = "".join(chance.pick(CONSONANTS) + chance.pick(VOWELS) for _ in range(syllables))
        root += chance.pick(CONSONANTS) if chance.happens(0.5) else ""
        if root not in taken:
            taken.add(root)
            return root
