"""Words as models without a tokenizer read them: a number of a vocabulary, and the characters.

What is written the same way is a form. Each form is encoded once, and within a batch its characters are read once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babelscope.core.declaration import Declaration
from babelscope.encoders.on_device import KeptBatches
from babelscope.encoders.pieces import Batch, Pieces, by_length

EVALUATION_WORDS = 2048
"""Words of a batch that nothing is learned from."""
UNKNOWN_WORD = 0
NO_CHARACTER, UNKNOWN_CHARACTER = 0, 1
LONGEST_FORM = 32
"""Characters of a form that are read: of a longer one, the first and the last half of them."""


class Vocabulary(Declaration):
    """The words and characters that a model knows, both sorted. Words are in lower case; characters are as written."""

    words: tuple[str, ...]
    """Number 1 and following; 0 is any other word."""
    characters: tuple[str, ...]
    """Number 2 and following; 0 is padding, 1 any other character."""

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]], least: int = 2) -> Vocabulary:
        """The words that sentences have at least `least` times, and all of their characters."""
        counts = count_words(sentences)
        characters = {character for words in sentences for word in words for character in word}
        frequent = sorted(word for word, count in counts.items() if count >= least)
        return cls(words=tuple(frequent), characters=tuple(sorted(characters)))

    def counts(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """[1 + words], int64: how often sentences have each word; all others at 0."""
        counts = count_words(sentences)
        known = [counts[word] for word in self.words]
        return torch.tensor([counts.total() - sum(known), *known])


def unknown_rates(counts: Tensor) -> Tensor:
    """How probably a word is made unknown in training: rare words often, so that unknown words are learned too.

    The rate is 0.25 / (0.25 + count) (Kiperwasser and Goldberg, 2016, 3.1).
    """
    return 0.25 / (0.25 + counts)


def count_words(sentences: Sequence[Sequence[str]]) -> Counter[str]:
    """How often each word is there, in lower case."""
    return Counter(word.lower() for words in sentences for word in words)


class WordBatch(NamedTuple):
    """Sentences of words, padded to the longest, and the forms that are in them."""

    words: Tensor
    """[sentences, words], int64: numbers of the vocabulary."""
    forms: Tensor
    """[sentences, words], int64: rows of `spelling`."""
    real: Tensor
    """[sentences, words], bool: False where padded."""
    spelling: Batch
    """[forms, characters]."""

    def to(self, device: torch.device) -> WordBatch:
        """The same batch on a device."""
        words, forms, real = (tensor.to(device) for tensor in self[:3])
        return WordBatch(words, forms, real, self.spelling.to(device))


@dataclass(frozen=True)
class EncodedWords:
    """Sentences of words, encoded once."""

    sentences: Pieces
    """The forms of each sentence, by number."""
    spelling: Pieces
    """The characters of each form."""
    words: Tensor
    """[forms], int64: the number of each in the vocabulary."""

    @classmethod
    def of(cls, vocabulary: Vocabulary, sentences: Sequence[Sequence[str]]) -> EncodedWords:
        """Encode sentences."""
        numbers = {word: number for number, word in enumerate(vocabulary.words, start=UNKNOWN_WORD + 1)}
        letters = {letter: number for number, letter in enumerate(vocabulary.characters, start=UNKNOWN_CHARACTER + 1)}
        forms: dict[str, int] = {}
        encoded = [[forms.setdefault(word, len(forms)) for word in words] for words in sentences]
        spelling = [[letters.get(letter, UNKNOWN_CHARACTER) for letter in _shortened(form)] for form in forms]
        return cls(
            Pieces.of(encoded, padding_id=0),
            Pieces.of([letters or [UNKNOWN_CHARACTER] for letters in spelling], NO_CHARACTER),
            torch.tensor([numbers.get(form.lower(), UNKNOWN_WORD) for form in forms]),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[sentences]: words of each."""
        return self.sentences.lengths

    @cached_property
    def batches(self) -> KeptBatches[tuple[NDArray[np.int64], WordBatch]]:
        """All that have words."""
        return KeptBatches(lambda device: self.cut())

    def cut(self, words_per_batch: int = EVALUATION_WORDS) -> Iterator[tuple[NDArray[np.int64], WordBatch]]:
        """All sentences that have words, in batches of similar lengths, each with the sentences' indices."""
        some = np.flatnonzero(self.lengths)
        for places in by_length(self.lengths[some], words_per_batch):
            yield some[places], self.batch(some[places])

    def batch(self, indices: NDArray[np.int64]) -> WordBatch:
        """The sentences at `indices`, in that order; one of them has words."""
        sentences = self.sentences.batch(indices)
        forms, places = sentences.ids.unique(return_inverse=True)
        return WordBatch(self.words[sentences.ids], places, sentences.real, self.spelling.batch(forms.numpy()))


@dataclass(frozen=True)
class TrainingWords:
    """Sentences to train on: by chance, some of their words are unknown each time."""

    encoded: EncodedWords
    rates: Tensor
    """[1 + words of the vocabulary]: how probably each is made unknown."""

    @classmethod
    def of(cls, vocabulary: Vocabulary, sentences: Sequence[Sequence[str]]) -> TrainingWords:
        """Encode sentences."""
        return cls(EncodedWords.of(vocabulary, sentences), unknown_rates(vocabulary.counts(sentences)))

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> WordBatch:
        """The sentences at `indices`, in that order."""
        batch = self.encoded.batch(indices)
        chance = torch.rand(batch.words.shape, generator=generator)
        return batch._replace(words=batch.words.masked_fill(chance < self.rates[batch.words], UNKNOWN_WORD))


def _shortened(form: str) -> str:
    half = LONGEST_FORM // 2
    return form if len(form) <= LONGEST_FORM else form[:half] + form[-half:]
