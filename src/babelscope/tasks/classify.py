"""Sentence tasks: a class, or a number, for a text: one sentence or a pair of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from babelscope.core.errors import InputError
from babelscope.core.examples import SentencePair, Text
from babelscope.encoders.anatomy import anatomy_of, reads_types
from babelscope.encoders.load import Encoder
from babelscope.encoders.on_device import KeptBatches
from babelscope.encoders.pieces import Batch, Pieces, by_length, evaluation_tokens
from babelscope.encoders.pooler import Pooler, may_have_pooler
from babelscope.tasks.design import TEXT_HEADS
from babelscope.tasks.family import family_classifier
from babelscope.tasks.metrics import computed, gold_values, score
from babelscope.tasks.task import Score
from babelscope.tasks.texts import encode_texts


class ClassBatch(NamedTuple):
    """Texts and their gold values."""

    batch: Batch
    gold: Tensor
    """[texts]: class of each, int64; or number, float32, as a share of the classifier's scale."""


class Classifier(nn.Module):
    """An encoder's backbone, with dropout and a linear layer over the state that stands for the whole text.

    That state is the raw last hidden state of the first piece ([CLS]; head "first", the default), or what the model's
    own pooler makes of it (head "pooler"). Head "family" is, in place of all this, the one that the model's family has
    for classification. Without `labels` there is one output and the task is regression: outputs 0 to 1 are spread over
    `scale`, the lowest and the highest number of the task (0 and 5 for STS-B).

    The backbone is the encoder's own, not a copy: training the classifier changes the encoder. The head, but for a
    pooler that the checkpoint has, is drawn from torch's global generator. `max_length` (pieces) can only be less
    than what the encoder has positions for.

    Raises:
        InputError: one label alone, a scale without width, an unknown head, or one that the family does not have.
    """

    def __init__(
        self,
        encoder: Encoder,
        labels: Sequence[str],
        dropout: float = 0.1,
        max_length: int | None = None,
        head: str = "first",
        scale: tuple[float, float] = (0.0, 1.0),
    ):
        super().__init__()
        _check(labels, head, scale)
        self.labels, self.scale = tuple(labels), scale
        self.tokenizer = encoder.tokenizer
        self.max_length = min(encoder.max_length, max_length or encoder.max_length)
        self.backbone = encoder.backbone
        self.family = family_classifier(encoder, labels, dropout) if head == "family" else None
        if self.family is not None:
            return
        self.pooler = pooler_of(encoder) if head == "pooler" else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(encoder.backbone.config.hidden_size, len(self.labels) or 1)
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.constant_(self.classifier.bias, 0.0 if labels else 0.5)  # regression starts in the middle of the scale

    def forward(self, batch: Batch) -> Tensor:
        """[texts, labels]: logits; for regression [texts]: numbers, as shares of the scale."""
        types = {} if batch.types is None else {"token_type_ids": batch.types}
        inputs = {"input_ids": batch.ids, "attention_mask": batch.attention_mask, **types}
        if self.family is not None:
            outputs = self.family(**inputs).logits
        else:
            states = self.text_states(self.backbone(**inputs).last_hidden_state, batch)
            outputs = self.classifier(self.dropout(self.pooler(states)))
        return outputs if self.labels else outputs.squeeze(1)

    def text_states(self, states: Tensor, batch: Batch) -> Tensor:
        """[texts, hidden]: of all hidden states [texts, pieces, hidden], those that stand for the whole texts.

        They are the first; in a decoder, which reads from left to right, the last that is not padding.
        """
        if anatomy_of(self.backbone.config).head:
            return states[:, 0]
        return states[torch.arange(len(states), device=states.device), batch.real.sum(1) - 1]

    def predict(self, texts: Sequence[Text], tokens_per_batch: int | None = None) -> list[str] | list[float]:
        """A label, or a number, for each text. A text longer than the model is cut, of a pair the longer first."""
        tokens = tokens_per_batch or evaluation_tokens(self.backbone.device)
        outputs = predict_outputs(self, text_batches(self.encode(texts), tokens))
        values = values_of(self, outputs).tolist()
        return [self.labels[number] for number in values] if self.labels else values

    def encode(self, texts: Sequence[Text]) -> Pieces:
        """The texts as the classifier reads them."""
        return encode_texts(self.tokenizer, texts, self.max_length, reads_types(self.backbone.config))


def pooler_of(encoder: Encoder) -> Pooler:
    """The encoder's own pooler; a new one where its checkpoint has none.

    Raises:
        InputError: encoders of this family have no pooler.
    """
    if not may_have_pooler(encoder.backbone):
        raise InputError(
            f"head 'pooler': {encoder.name} is of type {encoder.backbone.config.model_type}, which has no pooler; use "
            "head 'first', or an encoder that has one, of type bert, roberta or xlm-roberta"
        )
    return encoder.pooler or Pooler(encoder.backbone.config)


TextBatch = tuple[NDArray[np.int64], Batch]
"""Which texts there are, and their pieces."""


def text_batches(pieces: Pieces, tokens_per_batch: int) -> Iterator[TextBatch]:
    """All texts, from the shortest to the longest."""
    return ((indices, pieces.batch(indices)) for indices in by_length(pieces.lengths, tokens_per_batch))


@torch.no_grad()
def predict_outputs(classifier: Classifier, batches: Iterable[TextBatch]) -> Tensor:
    """[texts, labels]: logits; for regression [texts]: numbers, as shares of the scale. Float32, on the CPU."""
    was_training, device = classifier.training, classifier.backbone.device
    classifier.eval()
    read = [(indices, classifier(batch.to(device)).float()) for indices, batch in batches]
    classifier.train(was_training)
    if not read:
        return torch.zeros(0, *((len(classifier.labels),) if classifier.labels else ()))
    order = np.concatenate([indices for indices, _ in read])
    return torch.cat([outputs for _, outputs in read]).cpu()[np.argsort(order)]


def values_of(classifier: Classifier, outputs: Tensor) -> NDArray[np.generic]:
    """[texts]: the best class of each, int64; or the number of each, float64, in the classifier's scale."""
    if classifier.labels:
        return outputs.argmax(dim=1).numpy()
    low, high = classifier.scale
    return low + (high - low) * outputs.double().numpy()


@dataclass(frozen=True)
class LabelledTexts:
    """Texts with gold values, encoded once."""

    pieces: Pieces
    gold: NDArray[np.generic]
    """[texts]: class of each, int64; or number, float64, in the classifier's scale."""

    @classmethod
    def of(cls, classifier: Classifier, examples: Sequence[SentencePair]) -> LabelledTexts:
        """Encode examples for a classifier.

        Raises:
            InputError: a gold label that the classifier does not have, or no finite number for regression.
        """
        gold = gold_values(examples, classifier.labels)
        return cls(classifier.encode([example.text for example in examples]), gold)

    def value(self, classifier: Classifier, measure: str) -> float:
        """The measure of the classifier's predictions."""
        compute = computed(measure, len(classifier.labels))
        return float(compute(values_of(classifier, self.outputs(classifier)), self.gold))

    @cached_property
    def batches(self) -> KeptBatches[TextBatch]:
        """All texts."""
        return KeptBatches(lambda device: text_batches(self.pieces, evaluation_tokens(device)))

    def outputs(self, classifier: Classifier) -> Tensor:
        """As `predict_outputs`."""
        return predict_outputs(classifier, self.batches.on(classifier.backbone.device))

    def targets(self, classifier: Classifier) -> Tensor:
        """[texts]: what the outputs are compared with: classes, or numbers as shares of the scale."""
        gold = torch.from_numpy(self.gold)
        low, high = classifier.scale
        return gold if classifier.labels else ((gold - low) / (high - low)).float()

    def scores(self, classifier: Classifier, measures: Sequence[str]) -> list[Score]:
        """The measures of the classifier's predictions, with intervals."""
        predicted = values_of(classifier, self.outputs(classifier))
        return [score(measure, predicted, self.gold) for measure in measures]


def mean_loss(classifier: Classifier, outputs: Tensor, gold: Tensor) -> Tensor:
    """Mean cross-entropy over texts, or mean squared error in shares of the scale."""
    return cross_entropy(outputs, gold) if classifier.labels else mse_loss(outputs, gold)


def evaluate_classifier(
    classifier: Classifier, examples: Sequence[SentencePair], measures: Sequence[str]
) -> list[Score]:
    """Compare predictions with gold labels or numbers: one score a measure, with its interval over examples.

    Raises:
        InputError: there is no example, a measure does not fit the task, or a gold label is not the classifier's.
    """
    if not examples:
        raise InputError("no text to classify: the evaluation data is empty")
    for measure in measures:
        computed(measure, len(classifier.labels))
    return LabelledTexts.of(classifier, examples).scores(classifier, measures)


@dataclass(frozen=True)
class Classification:
    """The task: labelled texts to train a classifier on, and dev sets by name. The loss of regression is squared."""

    classifier: Classifier
    texts: Sequence[SentencePair]
    dev: Mapping[str, Sequence[SentencePair]] = field(default_factory=dict)
    measure: str = "accuracy"
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        computed(self.measure, len(self.classifier.labels))

    @cached_property
    def examples(self) -> LabelledTexts:
        """The training texts."""
        return LabelledTexts.of(self.classifier, self.texts)

    @cached_property
    def held_out(self) -> dict[str, LabelledTexts]:
        """The dev texts."""
        return {name: LabelledTexts.of(self.classifier, texts) for name, texts in self.dev.items()}

    @cached_property
    def targets(self) -> Tensor:
        """[texts]: what the outputs are compared with."""
        return self.examples.targets(self.classifier)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[texts]: pieces of each, special pieces included."""
        return self.examples.pieces.lengths

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> ClassBatch:
        """Training texts with their gold values."""
        return ClassBatch(self.examples.pieces.batch(indices), self.targets[indices])

    def loss(self, model: Classifier, batch: ClassBatch) -> Tensor:
        """Mean cross-entropy over the texts, or mean squared error in shares of the scale."""
        device = model.backbone.device
        outputs, gold = model(batch.batch.to(device)).float(), batch.gold.to(device)
        return mean_loss(model, outputs, gold)

    def portion(self, indices: NDArray[np.int64], seed: int) -> tuple[ClassBatch, int]:
        """Training texts, and their number."""
        return self.batch(indices, torch.Generator()), len(indices)

    def evaluate(self, model: Classifier) -> dict[str, float]:
        """The measure on each dev set."""
        return {name: texts.value(model, self.measure) for name, texts in self.held_out.items()}


def _check(labels: Sequence[str], head: str, scale: tuple[float, float]) -> None:
    if len(labels) == 1:
        raise InputError(f"one label, {labels[0]!r}, leaves nothing to tell apart: give two or more (none: regression)")
    if head not in TEXT_HEADS:
        raise InputError(f"unknown head {head!r}; allowed are {', '.join(TEXT_HEADS)}")
    if not scale[0] < scale[1]:
        raise InputError(f"scale {scale}: give the lowest and the highest number of the task, such as (0, 5)")
