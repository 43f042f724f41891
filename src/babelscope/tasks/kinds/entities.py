"""Named entities: a BIO tag for each word, scored by spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from babelscope.core.errors import InputError
from babelscope.core.tasks import ENTITIES, Task
from babelscope.corpora.bio import OUTSIDE
from babelscope.corpora.unlabelled import Document, read_bio_words
from babelscope.tasks.as_published import OF_ENTITIES
from babelscope.tasks.kinds.base import TaskKind

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder
    from babelscope.tasks.bilstm.backbone import BiLstmBackbone
    from babelscope.tasks.design import Design, TaskModel
    from babelscope.tasks.task import Score


class Entities(TaskKind):
    """Spans of words with a type; a model can call an entity what its training data call one."""

    task: Literal["entities"] = "entities"
    reads: ClassVar[str] = ENTITIES
    measures: ClassVar[tuple[str, ...]] = ("f1",)
    quirks: ClassVar[Mapping[str, str]] = OF_ENTITIES
    recurrent: ClassVar[bool] = True

    def check_labelled(self, task: Task, examples: Sequence[Any]) -> None:
        if all(label == OUTSIDE for sentence in examples for label in sentence.labels):
            raise InputError("no word is in an entity, so that nothing can be scored; name data that have some")

    def inputs(self, gold: Sequence[Any]) -> list[Any]:
        return [sentence.words for sentence in gold]

    def model(self, encoder: Encoder, design: Design) -> TaskModel:
        from babelscope.tasks.word_models import EntityModel

        return EntityModel(encoder, design)

    def recurrent_model(self, backbone: BiLstmBackbone, design: Design) -> TaskModel:
        from babelscope.tasks.bilstm.models import RecurrentEntityModel

        return RecurrentEntityModel(backbone, design)

    def score(self, task: Task, predictions: Sequence[Any], gold: Sequence[Any]) -> list[Score]:
        from babelscope.tasks.spans import span_scores

        return span_scores(predictions, [sentence.labels for sentence in gold])

    def scored_by_sentence(self, task: Task) -> bool:
        return True

    def document(self, task: Task, file: Path) -> Document:
        return read_bio_words(file)

    def written(self, task: Task) -> str:
        return "BIO tags after the words"
