"""Tagging: one label for each word of a sentence, such as its part of speech."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.encoders.encoded import encoded_words
from babelscope.encoders.load import Encoder
from babelscope.encoders.on_device import KeptBatches
from babelscope.encoders.pieces import Batch, by_length, evaluation_tokens
from babelscope.encoders.windows import Windows, encode_words
from babelscope.tasks.task import Score, ratio_score


class TagBatch(NamedTuple):
    """Windows, the first pieces of the words that they own, and these words' labels."""

    batch: Batch
    firsts: Tensor
    """[words]: positions of first pieces in the batch, read row by row."""
    labels: Tensor
    """[words]: class of each."""


class Tagger(nn.Module):
    """An encoder's backbone, with dropout and a linear layer over the last hidden states of first pieces.

    The backbone is the encoder's own, not a copy: training the tagger changes the encoder. The linear layer is drawn
    from torch's global generator. `max_length` (pieces) can only be less than what the encoder has positions for;
    `quirks` are of those in `as_published`.
    """

    def __init__(
        self,
        encoder: Encoder,
        labels: Sequence[str],
        dropout: float = 0.1,
        max_length: int | None = None,
        quirks: Collection[str] = (),
    ):
        super().__init__()
        self.labels = tuple(labels)
        self.quirks = frozenset(quirks)
        self.tokenizer = encoder.tokenizer
        self.max_length = min(encoder.max_length, max_length or encoder.max_length)
        self.backbone = encoder.backbone
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(encoder.backbone.config.hidden_size, len(self.labels))
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, batch: Batch, firsts: Tensor) -> Tensor:
        """[words, labels]: the logits of the words whose first pieces are at `firsts`."""
        states = self.backbone(input_ids=batch.ids, attention_mask=batch.attention_mask).last_hidden_state
        chosen = states.flatten(0, 1).index_select(0, firsts)
        if "sentence-dropout" not in self.quirks:
            return self.classifier(self.dropout(chosen))
        kept = self.dropout(states.new_ones(len(states), states.shape[2]))
        return self.classifier(chosen * kept.index_select(0, firsts // states.shape[1]))

    @property
    def repeats(self) -> bool:
        """Whether its windows repeat what the one before has read (`encoders.windows.repeating_windows`)."""
        return "repeating-windows" in self.quirks

    @torch.no_grad()
    def predict(self, sentences: Sequence[Sequence[str]], tokens_per_batch: int | None = None) -> list[list[str]]:
        """One label for each word of each sentence."""
        # Not `encoded_words`: nobody gave this text to be kept.
        windows = encode_words(self.tokenizer, sentences, self.max_length, self.repeats)
        tokens = tokens_per_batch or evaluation_tokens(self.classifier.weight.device)
        return label_sentences(self, windows, predict_classes(self, windows, word_batches(windows, tokens)))


class WordsBatch(NamedTuple):
    """Windows, and the words that they own."""

    batch: Batch
    firsts: Tensor
    """[words]: positions of first pieces in the batch, read row by row."""
    owned: NDArray[np.int64]
    """[words]: the number of each, through all sentences."""


def word_batches(windows: Windows, tokens_per_batch: int) -> Iterator[WordsBatch]:
    """All windows, from the shortest to the longest."""
    for indices in by_length(windows.pieces.lengths, tokens_per_batch):
        batch = windows.pieces.batch(indices)
        firsts = first_pieces(windows, indices, batch.ids.shape[1])
        yield WordsBatch(batch, firsts, np.concatenate([windows.owned[index] for index in indices]))


@torch.no_grad()
def read_words(tagger: Tagger, batches: Iterable[WordsBatch]) -> Iterator[tuple[NDArray[np.int64], Tensor]]:
    """Batch by batch, which words there are, and their logits [words, labels]."""
    was_training, device = tagger.training, tagger.classifier.weight.device
    tagger.eval()
    for words in batches:
        yield words.owned, tagger(words.batch.to(device), words.firsts.to(device))
    tagger.train(was_training)


def predict_classes(tagger: Tagger, windows: Windows, batches: Iterable[WordsBatch]) -> NDArray[np.int64]:
    """[words]: the best class of each word, -1 where no window owned it."""
    read = [(owned, logits.argmax(dim=1)) for owned, logits in read_words(tagger, batches)]
    return placed_classes(int(windows.sentence_starts[-1]), read)


def placed_classes(words: int, read: Sequence[tuple[NDArray[np.int64], Tensor]]) -> NDArray[np.int64]:
    """[words]: the class of each from what batches gave for which words, -1 where none did."""
    classes = np.full(words, -1, dtype=np.int64)
    if read:  # together, since an accelerator is waited for whenever something is taken from it
        classes[np.concatenate([owned for owned, _ in read])] = torch.cat([best for _, best in read]).cpu().numpy()
    return classes


def label_sentences(tagger: Tagger, windows: Windows, classes: NDArray[np.int64]) -> list[list[str]]:
    """The labels of each sentence's words, from the class of each word."""
    labels = [tagger.labels[number] for number in classes.tolist()]
    return [labels[start:end] for start, end in pairwise(windows.sentence_starts.tolist())]


def first_pieces(windows: Windows, indices: NDArray[np.int64], width: int) -> Tensor:
    """Positions, in a batch of rows of `width`, of the first pieces of the words that the windows own."""
    return torch.from_numpy(np.concatenate([row * width + windows.places[index] for row, index in enumerate(indices)]))


@dataclass(frozen=True)
class TaggedWindows:
    """Tagged sentences, encoded once. A gold label that the tagger does not have is class -1: never right."""

    windows: Windows
    gold: NDArray[np.int64]

    @classmethod
    def of(cls, tagger: Tagger, sentences: Sequence[Tagged]) -> TaggedWindows:
        """Encode sentences for a tagger."""
        classes = {label: number for number, label in enumerate(tagger.labels)}
        gold = [classes.get(label, -1) for sentence in sentences for label in sentence.labels]
        words = [sentence.words for sentence in sentences]
        windows = encoded_words(tagger.tokenizer, words, tagger.max_length, tagger.repeats)
        return cls(windows, np.asarray(gold, dtype=np.int64))

    @cached_property
    def batches(self) -> KeptBatches[WordsBatch]:
        """All windows."""
        return KeptBatches(lambda device: word_batches(self.windows, evaluation_tokens(device)))

    def classes(self, tagger: Tagger) -> NDArray[np.int64]:
        """[words]: the best class of each, -1 where no window owned it."""
        return predict_classes(tagger, self.windows, self.batches.on(tagger.classifier.weight.device))

    def right(self, classes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """[words]: whether the class of each, -1 for none, is the gold one."""
        return (classes == self.gold) & (classes >= 0)

    def reading_scores(self, classes: NDArray[np.int64]) -> list[Score]:
        """How the words were read: share that was given a label, share with an unknown piece, and their number."""
        return [
            Score("coverage", float((classes >= 0).mean())),
            Score("unknown", float(self.windows.unknown.mean())),
            Score("words", len(classes), "words"),
        ]


def evaluate_tagger(tagger: Tagger, sentences: Sequence[Tagged]) -> list[Score]:
    """Tag sentences and compare with their gold labels.

    Returns:
        accuracy: share of all words with the gold label, with its interval over sentences.
        coverage: share of the words that were given a label.
        unknown: share of the words of which the tokenizer does not know some part.
        words: their number.

    Raises:
        InputError: there is no word.
    """
    check_words(sentences)
    windows = TaggedWindows.of(tagger, sentences)
    classes, starts = windows.classes(tagger), windows.windows.sentence_starts
    right = np.concatenate([[0], np.cumsum(windows.right(classes))])
    return [ratio_score("accuracy", np.diff(right[starts]), np.diff(starts)), *windows.reading_scores(classes)]


def check_labels(sentences: Iterable[Tagged], known: Collection[str]) -> None:
    """Raise `InputError` if a sentence to train on has a label that the tagger has not."""
    if strange := {label for sentence in sentences for label in sentence.labels}.difference(known):
        raise InputError(f"label {min(strange)!r} in the training data: the tagger has {', '.join(sorted(known))}")


def check_words(sentences: Sequence[Tagged]) -> None:
    """Raise `InputError` if there is no word to evaluate on."""
    if not any(sentence.words for sentence in sentences):
        raise InputError("no word to tag: the evaluation data is empty")


@dataclass(frozen=True)
class Tagging:
    """The task: tagged sentences to train a tagger on, and dev sets by name."""

    tagger: Tagger
    sentences: Sequence[Tagged]
    dev: Mapping[str, Sequence[Tagged]] = field(default_factory=dict)
    measure: str = "accuracy"
    higher_is_better: bool = True

    @cached_property
    def examples(self) -> TaggedWindows:
        """The training windows."""
        check_labels(self.sentences, self.tagger.labels)
        return TaggedWindows.of(self.tagger, self.sentences)

    @cached_property
    def held_out(self) -> dict[str, TaggedWindows]:
        """The dev windows."""
        return {name: TaggedWindows.of(self.tagger, sentences) for name, sentences in self.dev.items()}

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[windows]: pieces of each, special pieces included."""
        return self.examples.windows.pieces.lengths

    @property
    def owners(self) -> NDArray[np.int64]:
        """[windows]: the sentence of each; by a quirk the window itself."""
        windows = self.examples.windows
        if self.tagger.repeats:
            return np.arange(len(windows.owned))
        first_words = [owned[0] for owned in windows.owned]
        return np.searchsorted(windows.sentence_starts, first_words, side="right") - 1

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> TagBatch:
        """Training windows with the labels of the words they own."""
        windows = self.examples.windows
        batch = windows.pieces.batch(indices)
        labels = self.examples.gold[np.concatenate([windows.owned[index] for index in indices])]
        return TagBatch(batch, first_pieces(windows, indices, batch.ids.shape[1]), torch.from_numpy(labels))

    def loss(self, model: Tagger, batch: TagBatch) -> Tensor:
        """Mean cross-entropy over the words."""
        device = model.classifier.weight.device
        logits = model(batch.batch.to(device), batch.firsts.to(device))
        return cross_entropy(logits.float(), batch.labels.to(device))

    def portion(self, indices: NDArray[np.int64], seed: int) -> tuple[TagBatch, int]:
        """Training windows, and their words."""
        batch = self.batch(indices, torch.Generator())
        return batch, len(batch.labels)

    def evaluate(self, model: Tagger) -> dict[str, float]:
        """Accuracy on each dev set."""
        return {name: float(held_out.right(held_out.classes(model)).mean()) for name, held_out in self.held_out.items()}
