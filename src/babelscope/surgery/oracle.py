"""Forget all but the distribution: the elements of each tensor, permuted."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from babelscope.encoders.load import Encoder
from babelscope.surgery.parts import change, stream


def oracle(encoder: Encoder, seed: int, part: str = "all", layers: Sequence[int] | None = None) -> Encoder:
    """The encoder with the elements of each tensor of a part permuted within it (Zhang, 2021, section 5.2)."""

    def permuted(name: str, old: Tensor) -> Tensor:
        order = torch.randperm(old.numel(), generator=stream(seed, "oracle", name))
        return old.flatten()[order].view_as(old)

    return change(encoder, part, layers, permuted)
