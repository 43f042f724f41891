"""The shared values of language data: word, sentence, tree, tagged words, sentence pair, parallel sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple
from unicodedata import category, normalize

Pooling = Literal["mean", "mean-with-special", "mean-with-special-twice", "weighted", "first"]
"""What stands for a sentence: the mean of its pieces, the same with special pieces, or with special pieces of which two
are read at each end and one counts (Muller et al., 2021, their code); a mean in which the n-th piece counts n times
(for decoders, whose later pieces have read more); or the first piece ([CLS])."""

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


NO_LABEL = "_"
"""What a word is labelled that has nothing in a column, or not that feature: `_`, as CoNLL-U writes it."""
NO_HEAD = -1
"""The head of a word in a sentence that has no tree."""
LABEL_COLUMNS = ("lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")
"""The columns of CoNLL-U that can be labels of words."""
KEYED_COLUMNS = ("feats", "misc")
"""Those that hold `Key=Value` pairs, of which one can be the label: `feats:Number`."""


class Word(NamedTuple):
    """A syntactic word of Universal Dependencies. `head` is 1-based; 0 is the root, and `NO_HEAD` none."""

    form: str
    upos: str
    head: int
    deprel: str
    lemma: str = NO_LABEL
    xpos: str = NO_LABEL
    feats: str = NO_LABEL
    deps: str = NO_LABEL
    misc: str = NO_LABEL

    def label(self, name: str) -> str:
        """What a column says of it (`upos`), or of a column of pairs, one key (`feats:Number`); `_` for nothing."""
        column, _, key = name.partition(":")
        value: str = getattr(self, column)
        if not key:
            return value
        start = f"{key}="
        return next((pair.removeprefix(start) for pair in value.split("|") if pair.startswith(start)), NO_LABEL)


class Multiword(NamedTuple):
    """A surface token that covers the words `first`..`last` (1-based, both included), such as French `du`."""

    first: int
    last: int
    form: str
    misc: str = NO_LABEL


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as a dependency tree over its words."""

    id: str
    words: tuple[Word, ...]
    multiwords: tuple[Multiword, ...] = ()
    text: str | None = None
    """As it was written, where that is known: the comment `# text` of CoNLL-U."""

    @property
    def forms(self) -> list[str]:
        """How the words are written."""
        return [word.form for word in self.words]

    @property
    def written(self) -> str:
        """The text; where it is not known, the surface tokens, with a space after each that has no `SpaceAfter=No`.

        Surface tokens are multiword tokens (`du`) in place of the words that they cover (`de le`), and the other words.
        """
        if self.text is not None:
            return self.text
        covered = {number for token in self.multiwords for number in range(token.first, token.last + 1)}
        tokens: dict[int, Multiword | Word] = {token.first: token for token in self.multiwords}
        tokens |= {number: word for number, word in enumerate(self.words, start=1) if number not in covered}
        spelled = (
            token.form + " " * ("SpaceAfter=No" not in token.misc.split("|")) for _, token in sorted(tokens.items())
        )
        return "".join(spelled).strip()

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


def tagged(sentences: Iterable[Sentence | Tagged], label: str = "upos") -> list[Tagged]:
    """Words with their labels, those of sentences read from a column (`Word.label`)."""
    return [
        sentence
        if isinstance(sentence, Tagged)
        else Tagged(sentence.forms, [word.label(label) for word in sentence.words])
        for sentence in sentences
    ]


Text = str | tuple[str, str]
"""A sentence, or a pair of sentences."""


class SentencePair(NamedTuple):
    """A pair of sentences (or one, then `second` is None) with its gold label: a class, or a number to regress on."""

    first: str
    second: str | None
    label: str | float

    @property
    def text(self) -> Text:
        """What a classifier reads of it."""
        return self.first if self.second is None else (self.first, self.second)


MANY = 0.1
"""The share of what is tested that is trained on, too, from which on it is said: short sentences are found anywhere."""


def read_twice(tested: Collection[object], trained: Iterable[object]) -> int:
    """How many of the examples that are scored have a text that one of those that are trained on has, too.

    Case, accents and signs that are not seen tell no texts apart, since there are tokenizers that drop them. 0 where
    they are few.
    """
    known = set(bare_texts(trained))
    return many_of(sum(text in known for text in bare_texts(tested)), len(tested))


def many_of(found: int, count: int) -> int:
    """How many there are of so many; 0 where they are few."""
    return found if found > MANY * count else 0


def repeated(examples: Collection[object]) -> int:
    """How many examples have the text and the labels of an earlier one; 0 where they are few."""
    return many_of(len(examples) - len({_seen(example) for example in examples}), len(examples))


def gold_labels(examples: Iterable[object]) -> list[str]:
    """The label of every word, or of every text that has a class; none of trees, numbers and plain text."""
    labels = list[str]()
    for example in examples:
        match example:
            case Tagged():
                labels += example.labels
            case SentencePair(label=str() as label):
                labels.append(label)
    return labels


def never_trained_on(tested: Sequence[str], trained: Iterable[str]) -> list[str]:
    """The labels that are scored and that training data lack, one for every word or text; empty where they are few."""
    known = set(trained)
    missed = [label for label in tested if label not in known]
    return missed if many_of(len(missed), len(tested)) else []


def not_composed(examples: Collection[object]) -> int:
    """How many examples are not in Unicode NFC; 0 where few are."""
    return many_of(sum(read != _composed(read) for read in map(_words_of, examples)), len(examples))


def _words_of(example: object) -> object:
    """What a model reads of an example, without its labels."""
    if isinstance(example, Sentence):
        return tuple(example.forms)
    if isinstance(example, Tagged):
        return tuple(example.words)
    return example.text if isinstance(example, SentencePair) else example


def bare_texts(examples: Iterable[object]) -> list[object]:
    """What tells each example from others that are tested or trained on; the sentences of a pair in any order."""
    return [
        tuple(sorted(bare)) if isinstance(example, SentencePair) and isinstance(bare, tuple) else bare
        for example in examples
        for bare in [_bare(_words_of(example))]
    ]


def _seen(example: object) -> object:
    """All that models learn from and are scored on."""
    if isinstance(example, Sentence):
        return example.words
    return (tuple(example.words), tuple(example.labels)) if isinstance(example, Tagged) else example


def _bare(read: object) -> object:
    """The same in small letters without accents and without what is not seen."""
    if isinstance(read, str):
        return read.lower() if read.isascii() and read.isprintable() else read.translate(_BARE)
    return tuple(map(_bare, read)) if isinstance(read, tuple) else read


class _BareLetters(dict[int, str]):
    """What is left of a letter, by its number."""

    def __missing__(self, letter: int) -> str:
        parts = normalize("NFKD", chr(letter).casefold())
        self[letter] = "".join(part for part in parts if category(part) not in ("Mn", "Cf", "Cc"))
        return self[letter]


_BARE = _BareLetters()


def _composed(read: object) -> object:
    """The same in Unicode NFC, in which the same words are the same letters."""
    if isinstance(read, str):
        return normalize("NFC", read)
    return tuple(map(_composed, read)) if isinstance(read, tuple) else read


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

    def possible(self, source: str, target: str) -> list[tuple[int, int]]:
        """All pairs of words without a meaning, such as full stops, which may translate each other and need not."""
        ours, theirs = (
            [k for k, concept in enumerate(self.concepts[each]) if concept < 0] for each in (source, target)
        )
        return list(product(ours, theirs))


def word_count(example: Sentence | Tagged | SentencePair | str) -> int:
    """How many words an example has; of texts, what white space separates."""
    match example:
        case Sentence() | Tagged():
            return len(example.words)
        case SentencePair():
            return len(f"{example.first} {example.second or ''}".split())
        case _:
            return len(example.split())
