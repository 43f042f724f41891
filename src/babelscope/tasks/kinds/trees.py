"""Dependency parsing: the head of each word, and its relation to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from babelscope.core.tasks import TREES, Task
from babelscope.corpora.unlabelled import Document, read_words
from babelscope.tasks.as_published import OF_TREES
from babelscope.tasks.kinds.base import TaskKind

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder
    from babelscope.tasks.bilstm.backbone import BiLstmBackbone
    from babelscope.tasks.design import Design, TaskModel
    from babelscope.tasks.task import Score


class Trees(TaskKind):
    """A tree over the words of each sentence."""

    task: Literal["trees"] = "trees"
    reads: ClassVar[str] = TREES
    measures: ClassVar[tuple[str, ...]] = ("las", "uas")
    further_measures: ClassVar[tuple[str, ...]] = ("las.nopunct",)
    heads: ClassVar[tuple[str, ...]] = ("small", "underspecified", "align-then-predict")
    quirks: ClassVar[Mapping[str, str]] = OF_TREES
    recurrent: ClassVar[bool] = True
    predicted: ClassVar[str] = "parsed"

    def check_examples(self, examples: Sequence[Any]) -> None:
        from babelscope.tasks.parsable import check_sentences

        check_sentences(examples)

    def inputs(self, gold: Sequence[Any]) -> list[Any]:
        return [sentence.forms for sentence in gold]

    def model(self, encoder: Encoder, design: Design) -> TaskModel:
        from babelscope.tasks.word_models import ParsingModel

        return ParsingModel(encoder, design)

    def recurrent_model(self, backbone: BiLstmBackbone, design: Design) -> TaskModel:
        from babelscope.tasks.bilstm.models import RecurrentParsingModel

        return RecurrentParsingModel(backbone, design)

    def score(self, task: Task, predictions: Sequence[Any], gold: Sequence[Any]) -> list[Score]:
        from babelscope.tasks.attachment import attachment_scores

        return attachment_scores([sentence.words for sentence in gold], predictions)

    def scored_by_sentence(self, task: Task) -> bool:
        return True

    def document(self, task: Task, file: Path) -> Document:
        return read_words(file)

    def written(self, task: Task) -> str:
        return "the columns HEAD and DEPREL"
