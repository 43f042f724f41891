"""Models of tasks, as the task's kind makes them, and baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from babelscope.core.tasks import Task
from babelscope.tasks.baselines import BaselineRule
from babelscope.tasks.kinds import kind_of

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder
    from babelscope.tasks.bilstm.words import Vocabulary
    from babelscope.tasks.design import Design, TaskModel
    from babelscope.tasks.task import Objective, Score


BACKBONE = "backbone."
"""What the names of an encoder's weights begin with in modules of task models."""


def task_model(encoder: Encoder, design: Design) -> TaskModel:
    """The model of a task; its head is drawn from torch's global generator. It trains the encoder's own weights.

    A study, and `babelscope.Encoder.tune`, draw the head with a seed derived from that of the tuning
    (`steps.Tune.untuned`): after `torch.manual_seed(derive_seed(seed, "head"))` it is the same here.
    """
    return kind_of(design.task).model(encoder, design)


def with_encoder(model: TaskModel, encoder: Encoder) -> TaskModel:
    """A trained model's head over another encoder of the same width, such as its own with more embeddings.

    The new model is in evaluation mode and has the encoder's own weights, and copies of the head's.
    """
    import torch

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        other = task_model(encoder, model.design)
        head = {name: weight for name, weight in model.module.named_parameters() if not name.startswith(BACKBONE)}
        for name, weight in other.module.named_parameters():
            if name in head and head[name].shape == weight.shape:  # a decoder of pieces is the encoder's, and may grow
                weight.copy_(head[name])
    other.module.eval()
    return other


def recurrent_model(design: Design, vocabulary: Vocabulary) -> TaskModel:
    """A BiLSTM for the task, that knows the words of a vocabulary and is drawn like `task_model`'s head."""
    from babelscope.tasks.bilstm.backbone import BiLstmBackbone

    return kind_of(design.task).recurrent_model(BiLstmBackbone(vocabulary, dropout=design.dropout), design)


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
