"""Tagging: one label for each word, such as its part of speech or its case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from babelscope.core.errors import InputError
from babelscope.core.examples import KEYED_COLUMNS, LABEL_COLUMNS, NO_LABEL, Sentence, Tagged, tagged
from babelscope.core.tasks import WORDS, Task
from babelscope.core.words import listed
from babelscope.corpora.unlabelled import Document, column_in_words, read_words
from babelscope.tasks.as_published import OF_TAGS
from babelscope.tasks.kinds.base import TaskKind

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder
    from babelscope.tasks.bilstm.backbone import BiLstmBackbone
    from babelscope.tasks.design import Design, TaskModel
    from babelscope.tasks.task import Score


class Tagging(TaskKind):
    """A label a word, from any column of CoNLL-U: `upos`, `xpos`, `feats:Number`; `_` for a word that has none."""

    task: Literal["tagging"] = "tagging"
    reads: ClassVar[str] = WORDS
    measures: ClassVar[tuple[str, ...]] = ("accuracy",)
    example: ClassVar[str] = "feats:Number"
    options: ClassVar[tuple[str, ...]] = ("label",)
    quirks: ClassVar[Mapping[str, str]] = OF_TAGS
    recurrent: ClassVar[bool] = True

    def declared(
        self, name: str, label: str = "", text: tuple[str, ...] = (), scale: tuple[float, float] | None = None
    ) -> Task:
        column, colon, key = label.partition(":")
        if column not in LABEL_COLUMNS or (colon and not (key and column in KEYED_COLUMNS)):
            keyed = ", ".join(f"{keyed_column}:NAME" for keyed_column in KEYED_COLUMNS)
            raise InputError(
                f"the label {label!r} is no column of words; there are {', '.join(LABEL_COLUMNS)}, {keyed}"
            )
        return super().declared(name, label)

    def classes(self, task: Task, examples: Sequence[Any]) -> tuple[str, ...]:
        labels = {label for sentence in self.gold(task, examples) for label in sentence.labels}
        if len(labels) > 1:
            return tuple(sorted(labels))
        what = f"are all labelled {min(labels)!r}" if labels - {NO_LABEL} else f"have no {task.label}"
        instead = "name a column that they have (the artificial languages have upos and deprel alone)"
        raise InputError(
            f"the words of the training data {what}, so that there is nothing to learn; "
            f"{_names_in(task, examples) or instead}"
        )

    def check_labelled(self, task: Task, examples: Sequence[Any]) -> None:
        if all(label == NO_LABEL for sentence in self.gold(task, examples) for label in sentence.labels):
            instead = _names_in(task, examples) or "name data that are annotated"
            raise InputError(f"no word has {task.label}, so that nothing can be scored; {instead}")

    def gold(self, task: Task, examples: Sequence[Any]) -> list[Tagged]:
        return tagged(examples, task.label)

    def inputs(self, gold: Sequence[Any]) -> list[Any]:
        return [sentence.words for sentence in gold]

    def model(self, encoder: Encoder, design: Design) -> TaskModel:
        from babelscope.tasks.word_models import TaggingModel

        return TaggingModel(encoder, design, partial(self.gold, design.task))

    def recurrent_model(self, backbone: BiLstmBackbone, design: Design) -> TaskModel:
        from babelscope.tasks.bilstm.models import RecurrentTaggingModel

        return RecurrentTaggingModel(backbone, design, partial(self.gold, design.task))

    def score(self, task: Task, predictions: Sequence[Any], gold: Sequence[Any]) -> list[Score]:
        return score_labels(predictions, gold)

    def scored_by_sentence(self, task: Task) -> bool:
        return True

    def document(self, task: Task, file: Path) -> Document:
        return read_words(file, task.label)

    def written(self, task: Task) -> str:
        return column_in_words(task.label)


def _names_in(task: Task, examples: Sequence[Any]) -> str:
    """What else words have in the task's column of `Name=Value` pairs; empty of another column, and for nothing."""
    column, _, own = task.label.partition(":")
    words = (word for sentence in examples if isinstance(sentence, Sentence) for word in sentence.words)
    pairs = {pair for word in words for pair in word.label(column).split("|")} if own else set()
    names = {name for name, equals, _ in (pair.partition("=") for pair in pairs) if equals} - {own}
    return f"{column.upper()} has {listed(sorted(names))}" if names else ""


def score_labels(predictions: Sequence[Sequence[str]], sentences: Sequence[Tagged]) -> list[Score]:
    """Compare predicted with gold labels: accuracy, and the number of words."""
    from babelscope.tasks.task import Score, ratio_score

    correct = [
        sum(given == gold for given, gold in zip(predicted, labels, strict=True))
        for predicted, (_, labels) in zip(predictions, sentences, strict=True)
    ]
    total = [len(sentence.words) for sentence in sentences]
    return [ratio_score("accuracy", correct, total), Score("words", sum(total), "words")]
