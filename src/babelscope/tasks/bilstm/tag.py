"""Tagging without a pre-trained encoder: a BiLSTM, and a linear layer or a conditional random field over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from babelscope.core.examples import Tagged
from babelscope.encoders.pieces import Pieces
from babelscope.tasks.bilstm.backbone import BiLstmBackbone
from babelscope.tasks.bilstm.crf import Crf, bio_allowed
from babelscope.tasks.bilstm.words import EVALUATION_WORDS, EncodedWords, TrainingWords, WordBatch
from babelscope.tasks.spans import count_spans, span_scores
from babelscope.tasks.tag import check_labels, check_words
from babelscope.tasks.task import Score, ratio_score

Output = Literal["softmax", "crf"]
"""Whether each word is labelled by itself, or all words of a sentence together, as BIO allows."""
Labels = Sequence[Sequence[str]]
"""Of the words of sentences."""


class BiLstmTagger(nn.Module):
    """Gives each word a label. With a CRF, labels are BIO tags, and only what BIO allows is predicted."""

    def __init__(self, backbone: BiLstmBackbone, labels: Sequence[str], output: Output = "softmax"):
        super().__init__()
        self.labels = tuple(labels)
        self.backbone = backbone
        self.classifier = nn.Linear(backbone.hidden_size, len(self.labels))
        self.crf = Crf(len(self.labels)) if output == "crf" else None

    def forward(self, batch: WordBatch) -> Tensor:
        """[sentences, words, labels], float32: the logits."""
        return self.classifier(self.backbone(batch)).float()

    def loss(self, batch: WordBatch, labels: Tensor) -> Tensor:
        """Mean over words of the negative log-likelihood of `labels` [sentences, words], in nats."""
        logits = self(batch)
        if self.crf is not None:
            return self.crf.loss(logits, labels, batch.real)
        return cross_entropy(logits[batch.real], labels[batch.real])

    def predict(self, sentences: Sequence[Sequence[str]], words_per_batch: int = EVALUATION_WORDS) -> list[list[str]]:
        """One label for each word of each sentence."""
        encoded = EncodedWords.of(self.backbone.vocabulary, sentences)
        return predict_labels(self, encoded, encoded.cut(words_per_batch))

    def best(self, batch: WordBatch) -> Tensor:
        """[sentences, words]: the class of each word."""
        logits = self(batch)
        if self.crf is None:
            return logits.argmax(2)
        return self.crf.best(logits, batch.real, bio_allowed(self.labels).to(logits.device))


@torch.no_grad()
def predict_labels(
    tagger: BiLstmTagger, encoded: EncodedWords, batches: Iterable[tuple[NDArray[np.int64], WordBatch]]
) -> list[list[str]]:
    """One label for each word of each sentence."""
    was_training, device = tagger.training, tagger.classifier.weight.device
    tagger.eval()
    predicted: list[list[str]] = [[] for _ in encoded.lengths]
    for indices, batch in batches:
        for index, classes in zip(indices.tolist(), tagger.best(batch.to(device)).tolist(), strict=True):
            predicted[index] = [tagger.labels[number] for number in classes[: encoded.lengths[index]]]
    tagger.train(was_training)
    return predicted


def evaluate_bilstm_tagger(tagger: BiLstmTagger, sentences: Sequence[Tagged]) -> list[Score]:
    """Accuracy of a tagger, and the number of words.

    Raises:
        InputError: there is no word.
    """
    sentences = _with_words(sentences)
    right = _right(
        tagger.predict([sentence.words for sentence in sentences]), [sentence.labels for sentence in sentences]
    )
    total = [len(sentence.words) for sentence in sentences]
    return [ratio_score("accuracy", right, total), Score("words", sum(total), "words")]


def evaluate_bilstm_ner(tagger: BiLstmTagger, sentences: Sequence[Tagged]) -> list[Score]:
    """F1, precision, recall and the F1 of each type (`span_scores`), and the number of words.

    Raises:
        InputError: there is no word, or a gold label is not BIO.
    """
    sentences = _with_words(sentences)
    predicted = tagger.predict([sentence.words for sentence in sentences])
    scores = span_scores(predicted, [sentence.labels for sentence in sentences])
    return [*scores, Score("words", sum(map(len, predicted)), "words")]


class BiLstmTagBatch(NamedTuple):
    """Sentences with their labels."""

    words: WordBatch
    labels: Tensor
    """[sentences, words]: class of each; -1 at padding."""


@dataclass(frozen=True)
class BiLstmTagging:
    """The task: tagged sentences to train a BiLSTM tagger on, and dev sets by name."""

    tagger: BiLstmTagger
    sentences: Sequence[Tagged]
    dev: Mapping[str, Sequence[Tagged]] = field(default_factory=dict)
    measure: Literal["accuracy", "f1"] = "accuracy"
    """Of dev sets: share of words with the gold label, or F1 of the spans of named entities."""
    higher_is_better: bool = True

    @cached_property
    def examples(self) -> TrainingWords:
        """The training sentences that have words."""
        return TrainingWords.of(
            self.tagger.backbone.vocabulary, [sentence.words for sentence in self.sentences if sentence.words]
        )

    @cached_property
    def gold(self) -> Pieces:
        """The classes of their words."""
        check_labels(self.sentences, self.tagger.labels)
        classes = {label: number for number, label in enumerate(self.tagger.labels)}
        return Pieces.of(
            [[classes[label] for label in sentence.labels] for sentence in self.sentences if sentence.words], -1
        )

    @cached_property
    def held_out(self) -> dict[str, EncodedWords]:
        """The dev sentences."""
        vocabulary = self.tagger.backbone.vocabulary
        return {
            name: EncodedWords.of(vocabulary, [sentence.words for sentence in part]) for name, part in self.dev.items()
        }

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[sentences]: words of each."""
        return self.gold.lengths

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> BiLstmTagBatch:
        """Training sentences, some of their words unknown, with their labels."""
        return BiLstmTagBatch(self.examples.batch(indices, generator), self.gold.batch(indices).ids)

    def loss(self, model: BiLstmTagger, batch: BiLstmTagBatch) -> Tensor:
        """Mean over words of the negative log-likelihood, in nats."""
        device = model.classifier.weight.device
        return model.loss(batch.words.to(device), batch.labels.to(device))

    def evaluate(self, model: BiLstmTagger) -> dict[str, float]:
        """The measure on each dev set."""
        values = {}
        for name, encoded in self.held_out.items():
            predicted = predict_labels(model, encoded, encoded.batches.on(model.classifier.weight.device))
            gold = [sentence.labels for sentence in self.dev[name]]
            right, words = sum(_right(predicted, gold)), int(encoded.lengths.sum())
            values[name] = count_spans(predicted, gold).f1 if self.measure == "f1" else right / words
        return values


def _right(predicted: Labels, gold: Labels) -> list[int]:
    """[sentences]: words with the gold label."""
    return [
        sum(given == label for given, label in zip(labels, wanted, strict=True))
        for labels, wanted in zip(predicted, gold, strict=True)
    ]


def _with_words(sentences: Sequence[Tagged]) -> list[Tagged]:
    check_words(sentences)
    return [sentence for sentence in sentences if sentence.words]
