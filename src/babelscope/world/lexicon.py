"""Lexicons: how roots are coined, how a daughter language inherits them by sound change, how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

from babelscope.world.chance import Chance
from babelscope.world.concepts import Concept, concepts_of, inventory

CONSONANTS, VOWELS = "ptkbdgmnslrvfhzjw", "aeiou"
OPEN_CLASSES = ("VERB", "ADJ", "NOUN")
PAIRED_CLASSES = (*OPEN_CLASSES, "ADV", "PROPN")
HOMOGRAPH_SHARE = 0.7
"""The share of nouns, verbs and adjectives whose root also serves another part of speech."""

SCRIPTS = {
    "Latn": {},
    "Cyrl": str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопярстувшжыз"),
    "Grek": str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβςδεφγηιξκλμνοπχρστυωψζϝϟ"),
}
"""Script -> one-to-one letter map from the Latin form in which lexicons are kept."""

Lexicon = Mapping[Concept, str]
"""Concept -> root, in Latin letters."""


@dataclass(frozen=True, slots=True)
class SoundChange:
    """A regular change of letters: every match of `pattern` becomes `replacement`, in all words alike."""

    pattern: str
    replacement: str

    def __call__(self, root: str) -> str:
        return re.sub(self.pattern, self.replacement, root)


def changed(root: str, changes: Iterable[SoundChange]) -> str:
    """The root after all changes, in their order."""
    for change in changes:
        root = change(root)
    return root


@cache
def shared_names() -> frozenset[Concept]:
    """The names that every language writes alike, in Latin letters."""
    return frozenset(name for name in concepts_of("PROPN") if int(name.name[3:]) % 2 == 0)


def coin_lexicon(chance: Chance, shared: Lexicon) -> dict[Concept, str]:
    """A lexicon of new roots for every concept, `shared` names as given."""
    inherited = [concept for concept in inventory().values() if concept not in shared]
    return dict(shared) | _coin(chance, inherited, taken=set(shared.values()))


def coin_names(chance: Chance) -> dict[Concept, str]:
    """Names of three syllables for the shared names."""
    taken: set[str] = set()
    return {name: _new_root(chance, 3, taken) for name in concepts_of("PROPN") if name in shared_names()}


def inherit(chance: Chance, parent: Lexicon, changes: Sequence[SoundChange], replaced: float) -> dict[Concept, str]:
    """A daughter's lexicon: the parent's after sound change, a share of the concepts with new roots.

    Shared names stay as they are. New roots keep clear of the inherited ones, so no homograph arises that way.
    """
    fixed = shared_names()
    lexicon = {c: root if c in fixed else changed(root, changes) for c, root in parent.items()}
    lost = [concept for concept in lexicon if concept not in fixed and chance.happens(replaced)]
    return lexicon | _coin(chance, lost, taken=set(lexicon.values()))


def _coin(chance: Chance, concepts: Sequence[Concept], taken: set[str]) -> dict[Concept, str]:
    """New roots; a noun, a verb or an adjective of three shares its root with one of another part of speech."""
    roots = {}
    partners = _homographs(chance, concepts)
    for concept in concepts:
        if concept in partners and partners[concept] in roots:
            roots[concept] = roots[partners[concept]]
        else:
            roots[concept] = _new_root(chance, _syllables(chance, concept), taken)
    return roots


def _homographs(chance: Chance, concepts: Sequence[Concept]) -> dict[Concept, Concept]:
    """Pairs across parts of speech, both directions, until the share is reached or nobody is left to pair.

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


def _new_root(chance: Chance, syllables: int, taken: set[str]) -> str:
    """A root that no other word has: consonant-vowel syllables, an open or a closed end."""
    while True:
        root = "".join(chance.pick(CONSONANTS) + chance.pick(VOWELS) for _ in range(syllables))
        root += chance.pick(CONSONANTS) if chance.happens(0.5) else ""
        if root not in taken:
            taken.add(root)
            return root


def cognate_share(first: Lexicon, second: Lexicon, ancestry: Mapping[Concept, object]) -> float:
    """Share of the concepts in `ancestry` whose roots are one letter sequence apart at most by sound change.

    Kept simple on purpose: two roots count as cognate when they differ in at most half of their letters.
    """
    alike = sum(distance(first[c], second[c]) <= max(len(first[c]), len(second[c])) / 2 for c in ancestry)
    return alike / len(ancestry)


def distance(first: str, second: str) -> int:
    """Levenshtein distance in letters."""
    previous = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        current = [i]
        for j, b in enumerate(second, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (a != b)))
        previous = current
    return previous[-1]
