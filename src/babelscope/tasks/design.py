"""What every model of a task has: what it was made for, what it is trained on, and how it is scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Annotated, Any, Protocol, runtime_checkable

from pydantic import Field, NonNegativeInt, PositiveInt

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.core.tasks import Task

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedTokenizerBase

    from babelscope.encoders.load import Encoder
    from babelscope.tasks.task import Objective, Score

TEXT_HEADS = ("first", "pooler", "family")
"""Of texts: what the classes are told from, the first token's state, the pooler's, or as its family has it."""
Measured = Callable[[], dict[str, float]]
"""Measures the model as it is now: by name the measures of its task, and the mean `loss` (nats; of regression the
squared error in shares of the scale)."""


class Design(Declaration):
    """What a task model is made for: the task and the choices that are left open by it."""

    task: Task
    head: str | None = None
    """One of the kind's `heads`; None: the default of the task's model."""
    entity_types: tuple[str, ...] = ()
    """Of named entities: what the model can call one."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    max_length: PositiveInt | None = None
    quirks: tuple[str, ...] = ()
    """Of the kind's, to repeat published numbers."""

    def __init__(self, task: str | Task | None = None, **choices: Any):
        super().__init__(**{"task": task, **choices})


Gold = Callable[[Sequence[Any]], list[Tagged]]
"""Of the sentences of data sets the words with their labels, as a kind of task has them."""


class TrainingData(Declaration):
    """How a model's training data were read. Data that it is scored on are read the same way."""

    world_seed: NonNegativeInt | None = None
    """Of the artificial world that they are of; None: of none, or it is not known."""
    world_version: int | None = None
    entity_types: dict[str, str] = Field(default={})
    """Of named entities: what a type in a file counts as; `O` for none."""


class TaskModel(ABC):
    """A model of one task. Examples are what its data sets hold: `Sentence`, `Tagged`, `SentencePair` or text."""

    module: nn.Module
    """What is trained and saved."""

    def __init__(self, design: Design):
        self.design = design
        """What it was made for."""
        self.training_data = TrainingData()

    @abstractmethod
    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Objective:
        """What the loop trains on."""

    @abstractmethod
    def scores(self, examples: Sequence[Any]) -> list[Score]:
        """How good the model is on examples, by all measures that there are of its kind of task."""

    def measured(self, examples: Sequence[Any]) -> Measured:
        """Encode examples, to measure the model on them again and again: its scores and its loss, without intervals.

        Raises:
            InputError: the model is a BiLSTM, whose weights are no encoder's.
        """
        raise InputError(f"{type(self.module).__name__}: only models of encoders are measured so")

    @property
    def languages(self) -> Mapping[str, PreTrainedTokenizerBase]:
        """Tokenizers of languages that have one of their own."""
        return {}

    def reading(self, language: str) -> TaskModel:
        """The same model with the language's own tokenizer; the model itself where the language has none.

        Args:
            language: as data sets have it as their `code`, so that text in other letters is read with the tokenizer
                of all others.
        """
        return self


class EncoderModel(TaskModel):
    """A model of an encoder: it trains the encoder's own weights, and reads a language as the encoder does."""

    def __init__(self, encoder: Encoder, design: Design):
        super().__init__(design)
        self.encoder = encoder

    @property
    def languages(self) -> Mapping[str, PreTrainedTokenizerBase]:
        return self.encoder.languages

    @property
    def max_length(self) -> int:
        """The longest sequence, in pieces with the special ones."""
        return min(self.encoder.max_length, self.design.max_length or self.encoder.max_length)

    def reading(self, language: str) -> TaskModel:
        """As of any model. Parameters are the very same; whether the model is in training is that of now."""
        encoder = self.encoder.reading(language)
        return self if encoder is self.encoder else self.with_encoder(encoder)

    def with_encoder(self, encoder: Encoder) -> EncoderModel:
        """The same head over another encoder of the same width, such as its own with more embeddings."""
        other = copy(self)
        other.encoder = encoder
        module: Any = copy(self.module)
        module._modules = self.module._modules | {"backbone": encoder.backbone}  # a copy shares what is in it
        module.tokenizer, module.max_length = encoder.tokenizer, other.max_length
        other.module = module
        return other


@runtime_checkable
class Predictor(Protocol):
    """The module of a task model, unless it is a masked language model, which labels nothing."""

    def predict(self, inputs: Sequence[Any], /) -> list[Any]:
        """Of each sentence of words, the label of every word, or a tree; of each text or pair, its label or number."""
