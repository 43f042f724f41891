"""Classification: a class for each text, a sentence or a pair of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from babelscope.core.errors import InputError
from babelscope.core.tasks import TEXTS, Task
from babelscope.corpora.unlabelled import Document, read_table
from babelscope.tasks.design import TEXT_HEADS
from babelscope.tasks.kinds.base import TaskKind

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder
    from babelscope.tasks.design import Design, TaskModel
    from babelscope.tasks.task import Score


class TextKind(TaskKind):
    """What classification and regression have in common."""

    reads: ClassVar[str] = TEXTS
    heads: ClassVar[tuple[str, ...]] = TEXT_HEADS

    def declared(
        self, name: str, label: str = "", text: tuple[str, ...] = (), scale: tuple[float, float] | None = None
    ) -> Task:
        task = super().declared(name, label, text, scale)
        if label in task.texts:
            raise InputError(f"the label {label!r} is a column of the text, so that it would be read; name another one")
        if len(set(task.texts)) < len(task.texts):
            raise InputError(f"text has the column {task.texts[0]!r} twice; name the two columns of a pair, or one")
        return task

    def inputs(self, gold: Sequence[Any]) -> list[Any]:
        return [example.text for example in gold]

    def model(self, encoder: Encoder, design: Design) -> TaskModel:
        from babelscope.tasks.text_models import TextModel

        return TextModel(encoder, design)

    def score(self, task: Task, predictions: Sequence[Any], gold: Sequence[Any]) -> list[Score]:
        from babelscope.tasks.metrics import score_texts

        return score_texts(predictions, gold, task.labels, task.measures)

    def scored_by_sentence(self, task: Task) -> bool:
        return task.measures[0] == "accuracy"

    def document(self, task: Task, file: Path) -> Document:
        return read_table(file, task.texts, task.label)

    def unit(self, task: Task) -> str:
        return "text" if len(task.texts) == 1 else "pair of texts"

    def written(self, task: Task) -> str:
        return f"the column {task.label}"


class Classification(TextKind):
    """One of several classes, from a column of a table."""

    task: Literal["classification"] = "classification"
    measures: ClassVar[tuple[str, ...]] = ("accuracy",)
    options: ClassVar[tuple[str, ...]] = ("label", "text")
    example: ClassVar[str] = "topic"
    closed: ClassVar[bool] = True

    def classes(self, task: Task, examples: Sequence[Any]) -> tuple[str, ...]:
        labels = {str(example.label) for example in examples}
        if len(labels) > 1:
            return tuple(sorted(labels))
        what = f"are all labelled {min(labels)!r}" if any(labels) else "have no label"
        raise InputError(
            f"the training texts {what} in column {task.label!r}, so that there is "
            "nothing to learn; are the lines sorted by label, and only the first of them read? See sizes.train"
        )
