"""Regression: a number for each text, a sentence or a pair of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from babelscope.core.errors import InputError
from babelscope.core.tasks import Task
from babelscope.tasks.kinds.classification import TextKind

LARGEST = 1_000_000
"""Of a scale, of whose numbers float32 keeps seven digits."""


class Regression(TextKind):
    """A number on a scale, from a column of a table."""

    task: Literal["regression"] = "regression"
    measures: ClassVar[tuple[str, ...]] = ("pearson", "spearman")
    example: ClassVar[str] = "score"
    options: ClassVar[tuple[str, ...]] = ("label", "text", "scale")
    predicted: ClassVar[str] = "given a number"

    def declared(
        self, name: str, label: str = "", text: tuple[str, ...] = (), scale: tuple[float, float] | None = None
    ) -> Task:
        low, high = scale = scale or (0.0, 1.0)
        if not low < high:
            raise InputError(f"scale {low:g} to {high:g}: give the lowest and the highest number, such as [0, 5]")
        if max(-low, high) > LARGEST:
            raise InputError(f"scale {low:g} to {high:g}: numbers are told apart up to {LARGEST:,}; give smaller ones")
        return super().declared(name, label, text, scale)

    def check_labelled(self, task: Task, examples: Sequence[Any]) -> None:
        numbers = {example.label for example in examples}
        if len(numbers) == 1:
            raise InputError(
                f"all have the same {task.label} ({numbers.pop()}), and no correlation with that can be measured; name "
                "data whose numbers differ"
            )
