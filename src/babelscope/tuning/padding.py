"""Batches padded to shapes that come again, since a graph of kernels is of one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

WIDTH = 8
"""What the pieces of a row are a multiple of."""


def rounded(size: int, digits: int, least: int = 1) -> int:
    """The size, or the next one that has so many binary digits and then zeros, and is a multiple of `least`.

    With three digits there are four sizes from a power of two to the next, and at most a quarter more is computed.
    """
    step = max(least, 1 << max(0, size.bit_length() - digits))
    return -(-size // step) * step


class Padded:
    """A batch [rows, width] in a shape that is no smaller; rows that are added have one piece that is attended to."""

    def __init__(self, given: dict[str, Tensor], positions: int):
        """`given` as for `Packed`; `positions` is how many pieces an encoder reads."""
        self._given = given
        self._rows, self._width = given["input_ids"].shape
        width = min(rounded(self._width, 3, WIDTH), max(self._width, positions))
        self.shape = rounded(max(2, self._rows), 3), width  # what is compiled for two rows or more is not for one

    def inputs(self) -> dict[str, Tensor]:
        """[rows, width] each, in that shape."""
        given = {"attention_mask": torch.ones_like(self._given["input_ids"], dtype=torch.bool)} | self._given
        inputs = {}
        for name, tensor in given.items():
            inputs[name] = tensor.new_zeros(self.shape)
            inputs[name][: self._rows, : self._width] = tensor
        inputs["attention_mask"][self._rows :, 0] = True
        return inputs

    def read(self, forward: Callable[..., Any], inputs: dict[str, Tensor]) -> Tensor:
        """[rows, width, hidden] in that shape: what a backbone's forward pass makes of such inputs."""
        states: Tensor = forward(**inputs).last_hidden_state
        return states

    def unpadded(self, states: Tensor) -> Tensor:
        """[rows, width, hidden] of the states of that shape."""
        return states[: self._rows, : self._width]
