"""The shared values of language data: word, sentence, tree, tagged words, sentence pair, parallel sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Pooling = Literal["mean", "mean-with-special", "weighted", "first"]
"""What stands for a sentence: the mean of its pieces, the same with special pieces, a mean in which the n-th piece
counts n times (for decoders, whose later pieces have read more), or the first piece ([CLS])."""

UPOS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM",
    "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
"""The universal part-of-speech tags of UD, in the order of the task head's classes."""

DEPREL = (
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop",
    "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark",
    "nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative", "xcomp",
)  # fmt: skip
"""The universal dependency relations of UD, in the order of the parser's classes."""


class Word(NamedTuple):
    """A syntactic word of Universal Dependencies. `head` is 1-based; 0 is the root."""

    form: str
    upos: str
    head: int
    deprel: str


class Multiword(NamedTuple):
    """A surface token that covers the words `first`..`last` (1-based, both included), such as French `du`."""

    first: int
    last: int
    form: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as a dependency tree over its words."""

    id: str
    words: tuple[Word, ...]
    multiwords: tuple[Multiword, ...] = ()

    @property
    def forms(self) -> list[str]:
        """How the words are written."""
        return [word.form for word in self.words]

    @property
    def upos(self) -> list[str]:
        """The part of speech of each word."""
        return [word.upos for word in self.words]


class Tree(NamedTuple):
    """A dependency tree: for each word its head (1-based; 0 is the root) and its relation to it."""

    heads: Sequence[int]
    deprels: Sequence[str]


class Tagged(NamedTuple):
    """A sentence with the gold label of each word: its part of speech, or a BIO tag of named entities."""

    words: Sequence[str]
    labels: Sequence[str]


class SentencePair(NamedTuple):
    """A pair of sentences (or one, then `second` is None) with its gold label: a class, or a number to regress on."""

    first: str
    second: str | None
    label: str | float


@dataclass(frozen=True, slots=True)
class Parallel:
    """The same meaning in several languages.

    `sentences` maps a language code to its sentence. `concepts` maps it to one meaning identifier a word
    (-1 for a word that has none, such as a language's article); words of equal identifier are aligned.
    """

    sentences: dict[str, Sentence]
    concepts: dict[str, tuple[int, ...]]

    def alignment(self, source: str, target: str) -> list[tuple[int, int]]:
        """Pairs of 0-based word positions (source, target) that express the same part of the meaning."""
        where = {concept: j for j, concept in enumerate(self.concepts[target]) if concept >= 0}
        return [(i, where[c]) for i, c in enumerate(self.concepts[source]) if c in where]
