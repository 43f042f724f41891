"""What every task offers to the training loop."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Task(Protocol):
    """Training examples, a loss over some of them, and a measure on the dev sets.

    Models and batches are values that the task alone looks into; random choices come from the generator it is given.
    """

    @property
    def measure(self) -> str:
        """The name of what `evaluate` returns, such as accuracy."""

    @property
    def higher_is_better(self) -> bool:
        """Whether more of the measure is better."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[examples]: pieces of each training example, special pieces included."""

    def batch(self, indices: NDArray[np.int64], generator: torch.Generator) -> Any:
        """The training examples at `indices` as tensors."""

    def loss(self, model: Any, batch: Any) -> Tensor:
        """The mean loss of a batch, a scalar that can be differentiated."""

    def evaluate(self, model: Any) -> dict[str, float]:
        """The measure on each dev set, by its name. The model is in evaluation mode, without gradients."""
