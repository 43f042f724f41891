"""Round weights to few values, to see how much precision carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from babelscope.surgery.operation import OnPart

if TYPE_CHECKING:
    from torch import Tensor

    from babelscope.encoders.load import Encoder


class Quantise(OnPart):
    """Round each tensor to 2**bits - 1 values, evenly spaced and symmetric about 0.

    The largest absolute value of a tensor is kept. The weights stay in float32: no memory or time is saved.
    """

    operation: Literal["quantise"] = "quantise"
    bits: Annotated[int, Field(ge=2, le=16)] = 8
    """Each tensor has at most 2**bits - 1 values."""

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        import torch

        from babelscope.surgery.parts import change

        levels = 2 ** (self.bits - 1) - 1

        def rounded(_: str, old: Tensor) -> Tensor:
            largest = old.abs().max()
            return torch.round(old / largest * levels) / levels * largest if largest > 0 else old

        return change(encoder, self.part, self.layers, rounded)
