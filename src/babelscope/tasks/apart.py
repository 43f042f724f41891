"""Several training languages whose examples never meet in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babelscope.tasks.task import InParts, Objective, divisible


@dataclass(frozen=True)
class Apart:
    """One task made of several, a training language each. Any of them can hold dev sets."""

    parts: Sequence[Objective]
    only_validated: Sequence[Objective] = ()
    """Others that hold dev sets alone, of languages that are not trained on and have tokenizers of their own."""

    @property
    def measure(self) -> str:
        """That of the parts."""
        return self.parts[0].measure

    @property
    def higher_is_better(self) -> bool:
        """As for the parts."""
        return self.parts[0].higher_is_better

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """[sequences]: pieces of each, part after part."""
        return np.concatenate([part.lengths for part in self.parts])

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """[sequences]: the part that each belongs to."""
        return np.repeat(np.arange(len(self.parts)), [len(part.lengths) for part in self.parts])

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """[sequences]: the example of each, numbered part after part."""
        numbers = [part.owners if isinstance(part, InParts) else np.arange(len(part.lengths)) for part in self.parts]
        firsts = np.cumsum([0, *(int(each[-1]) + 1 if len(each) else 0 for each in numbers[:-1])])
        return np.concatenate([each + first for each, first in zip(numbers, firsts, strict=True)])

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> Any:
        """A batch of the part that the examples belong to; all of them belong to one."""
        part = self.groups[indices[0]]
        return self.parts[part].batch(indices - np.searchsorted(self.groups, part), generator)

    def loss(self, model: Any, batch: Any) -> Tensor:
        """The mean loss of a batch."""
        return self.parts[0].loss(model, batch)

    @property
    def portion(self) -> Callable[[NDArray[np.int64], int], tuple[Any, int]] | None:
        """Gives examples of the part that they belong to, as that part does; None where it cannot."""
        return self._portion if divisible(self.parts[0]) else None

    def _portion(self, indices: NDArray[np.int64], seed: int) -> tuple[Any, int]:
        number = self.groups[indices[0]]
        part: Any = self.parts[number]
        return part.portion(indices - np.searchsorted(self.groups, number), seed)

    def evaluate(self, model: Any) -> dict[str, float]:
        """The measure on each dev set."""
        holders = (*self.parts, *self.only_validated)
        return {name: value for part in holders for name, value in part.evaluate(model).items()}
