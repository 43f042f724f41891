"""Permute the layers."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from babelscope.encoders.load import Encoder
from babelscope.errors import InputError
from babelscope.surgery.order import in_order
from babelscope.surgery.parts import stream


def permute(encoder: Encoder, seed: int, order: Sequence[int] | None = None) -> Encoder:
    """The encoder whose layer `i` is layer `order[i]` of the given one; without `order`, `seed` decides."""
    count = encoder.model.config.num_hidden_layers
    if order is None:
        order = torch.randperm(count, generator=stream(seed, "permute")).tolist()
    if sorted(order) != list(range(count)):
        raise InputError(
            f"permute: order {'+'.join(map(str, order))} must have each of the {count} layers of {encoder.name} once, "
            f"0 to {count - 1}"
        )
    return in_order(encoder, order)
