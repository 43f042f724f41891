"""Models of tasks, as the task's kind makes them, and baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from babelscope.core.tasks import Task
from babelscope.corpora.codes import known_as
from babelscope.tasks.baselines import BaselineRule
from babelscope.tasks.kinds import kind_of

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder
    from babelscope.tasks.bilstm.words import Vocabulary
    from babelscope.tasks.design import Design, TaskModel
    from babelscope.tasks.task import Objective, Score


def task_model(encoder: Encoder, design: Design) -> TaskModel:
    """The model of a task; its head is drawn from torch's global generator. It trains the encoder's own weights.

    A study, and `babelscope.Encoder.tune`, draw the head with a seed derived from that of the tuning
    (`steps.Tune.untuned`): after `torch.manual_seed(derive_seed(seed, "head"))` it is the same here.
    """
    return kind_of(design.task).model(encoder, design)


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


class InLanguage(NamedTuple):
    """Examples in a language."""

    language: str
    """As data sets have it as their `code`."""
    examples: Sequence[Any]


def training_task(model: TaskModel, train: Sequence[InLanguage], dev: Mapping[str, InLanguage]) -> Objective:
    """Training data, of which examples of different entries never meet in one batch, and dev sets by name.

    All are read with the tokenizer of their language. Dev sets go with the first training data that are read with
    the same one.
    """
    from babelscope.tasks.apart import Apart

    held_out: dict[str, dict[str, Sequence[Any]]] = {}
    for name, (language, examples) in dev.items():
        held_out.setdefault(_own(language, model), {})[name] = examples
    parts = [
        model.reading(language).training(examples, held_out.pop(_own(language, model), {}))
        for language, examples in train
    ]
    return Apart(parts, [model.reading(language).training((), sets) for language, sets in held_out.items()])


def _own(language: str, model: TaskModel) -> str:
    """What the model calls the language, if it is read with a tokenizer of its own; empty of all others."""
    return known_as(language, model.languages)
