"""Models of tasks: what a task's kind makes of an encoder, what it is trained on, and what scores it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.tasks import Task
from babelscope.tasks.baselines import BaselineRule
from babelscope.tasks.kinds import TaskKind, kind_of

if TYPE_CHECKING:
    from torch import nn

    from babelscope.encoders.load import Encoder
    from babelscope.tasks.bilstm.words import Vocabulary
    from babelscope.tasks.task import Objective, Score

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
    dropout: float = 0.1
    max_length: int | None = None

    def __init__(self, task: str | Task, **choices: Any):
        super().__init__(**{"task": task, **choices})

    @property
    def kind(self) -> TaskKind:
        """That of the task."""
        return kind_of(self.task)


class TaskModel(ABC):
    """A model of one task. Examples are what its data sets hold: `Sentence`, `Tagged`, `SentencePair` or text."""

    module: nn.Module
    """What is trained and saved."""

    def __init__(self, design: Design):
        self.design = design
        """What it was made for."""

    @abstractmethod
    def training(self, train: Sequence[Any], dev: Mapping[str, Sequence[Any]]) -> Objective:
        """What the loop trains on."""

    @abstractmethod
    def scores(self, examples: Sequence[Any]) -> list[Score]:
        """How good the model is on examples, the main measure first."""

    def measured(self, examples: Sequence[Any]) -> Measured:
        """Encode examples, to measure the model on them again and again: its scores and its loss, without intervals.

        Raises:
            InputError: the model is a BiLSTM, whose weights are no encoder's.
        """
        raise InputError(f"{type(self.module).__name__}: only models of encoders are measured so")

    def gold(self, examples: Sequence[Any]) -> Sequence[Any]:
        """Examples as the model learns from them."""
        return self.design.kind.gold(self.design.task, examples)


@runtime_checkable
class Predictor(Protocol):
    """The module of a task model, unless it is a masked language model, which labels nothing."""

    def predict(self, inputs: Sequence[Any], /) -> list[Any]:
        """Of each sentence of words, the label of every word, or a tree; of each text or pair, its label or number."""


def task_model(encoder: Encoder, design: Design) -> TaskModel:
    """The model of a task; its head is drawn from torch's global generator. It trains the encoder's own weights.

    A study, and `babelscope.Encoder.tune`, draw the head with a seed derived from that of the tuning
    (`steps.Tune.untuned`): after `torch.manual_seed(derive_seed(seed, "head"))` it is the same here.
    """
    return design.kind.model(encoder, design)


def recurrent_model(design: Design, vocabulary: Vocabulary) -> TaskModel:
    """A BiLSTM for the task, that knows the words of a vocabulary and is drawn like `task_model`'s head."""
    from babelscope.tasks.bilstm.backbone import BiLstmBackbone

    return design.kind.recurrent_model(BiLstmBackbone(vocabulary, dropout=design.dropout), design)


def known_words(train: Sequence[Any]) -> Vocabulary:
    """What a BiLSTM learns of the words of the training examples."""
    from babelscope.core.examples import Tagged
    from babelscope.tasks.bilstm.words import Vocabulary

    return Vocabulary.of([example.words if isinstance(example, Tagged) else example.forms for example in train])


def fit_baseline(baseline: str, task: Task, train: Sequence[Any]) -> Callable[..., Any]:
    """What a baseline learns from training examples, as `score_baseline` takes it."""
    rule: BaselineRule = BaselineRule.named(baseline)()
    return rule.fit(kind_of(task).gold(task, train))


def score_baseline(predict: Callable[..., Any], task: Task, test: Sequence[Any]) -> list[Score]:
    """How good a fitted baseline is on examples."""
    kind = kind_of(task)
    gold = kind.gold(task, test)
    return kind.score(task, predict(kind.inputs(gold)), gold)


def training_task(model: TaskModel, train: Sequence[Sequence[Any]], dev: Mapping[str, Sequence[Any]]) -> Objective:
    """Training data by language, whose examples never meet in one batch."""
    from babelscope.tasks.apart import Apart

    return Apart([model.training(part, {} if k else dev) for k, part in enumerate(train)])
