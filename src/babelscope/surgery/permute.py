"""Permute the layers."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from babelscope.encoders.load import Encoder
from babelscope.surgery.fit import check_order
from babelscope.surgery.order import in_order
from babelscope.surgery.parts import stream


def permute(encoder: Encoder, seed: int, order: Sequence[int] | None = None) -> Encoder:
    """The encoder whose layer `i` is layer `order[i]` of the given one; without `order`, `seed` decides."""
    count = encoder.model.config.num_hidden_layers
    if order is None:
        order = torch.randperm(count, generator=stream(seed, "permute")).tolist()
    check_order(order, count, encoder.name)
    return in_order(encoder, order)
