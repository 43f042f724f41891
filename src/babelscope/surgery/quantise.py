"""Round: weights of few bits, as a probe of how much precision carries."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from babelscope.encoders.load import Encoder
from babelscope.surgery.parts import change


def quantise(encoder: Encoder, part: str = "all", layers: Sequence[int] | None = None, bits: int = 8) -> Encoder:
    """The encoder with each tensor of a part rounded to 2**bits - 1 values, evenly spaced and symmetric about 0.

    The largest absolute value of a tensor is kept. The weights stay in float32: no memory or time is saved.
    """
    levels = 2 ** (bits - 1) - 1

    def rounded(_: str, old: Tensor) -> Tensor:
        largest = old.abs().max()
        return torch.round(old / largest * levels) / levels * largest if largest > 0 else old

    return change(encoder, part, layers, rounded)
