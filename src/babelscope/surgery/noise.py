"""Blur: Gaussian noise relative to each tensor's own spread."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from babelscope.encoders.load import Encoder
from babelscope.surgery.parts import change, stream


def noise(
    encoder: Encoder, seed: int, part: str = "all", layers: Sequence[int] | None = None, share: float = 0.1
) -> Encoder:
    """The encoder with Gaussian noise on a part of its weights; its sd is `share` of each tensor's own.

    A constant tensor stays as it is.
    """

    def blurred(name: str, old: Tensor) -> Tensor:
        drawn = torch.randn(old.shape, generator=stream(seed, "noise", name))
        return old + share * old.std(correction=0) * drawn

    return change(encoder, part, layers, blurred)
