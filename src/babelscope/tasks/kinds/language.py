"""Masked language modelling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from babelscope.core.tasks import LINES
from babelscope.tasks.as_published import OF_LANGUAGE
from babelscope.tasks.kinds.base import TaskKind

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder
    from babelscope.tasks.design import Design, TaskModel


class LanguageModelling(TaskKind):
    """Hidden tokens of plain text, by the encoder's own head."""

    task: Literal["language model"] = "language model"
    reads: ClassVar[str] = LINES
    measures: ClassVar[tuple[str, ...]] = ("perplexity",)
    needs_mlm_head: ClassVar[bool] = True
    fresh_examples: ClassVar[bool] = True
    quirks: ClassVar[Mapping[str, str]] = {str(name): what for name, what in OF_LANGUAGE.items()}

    def model(self, encoder: Encoder, design: Design) -> TaskModel:
        from babelscope.tasks.text_models import LanguageModel

        return LanguageModel(encoder, design)
