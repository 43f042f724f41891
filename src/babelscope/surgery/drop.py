"""Drop layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from babelscope.encoders.load import Encoder
from babelscope.surgery.fit import kept_layers
from babelscope.surgery.order import in_order


def drop(
    encoder: Encoder,
    last: int | Literal["half"] | None = None,
    every: int | None = None,
    layers: Sequence[int] | None = None,
) -> Encoder:
    """The encoder without some of its layers (Zhang, 2021, section 6); those left keep their order.

    Args:
        encoder: has more layers than are dropped.
        last: drop this many from the end; half of an odd number is rounded down.
        every: drop every n-th; 2 drops layers 1, 3, 5, ...
        layers: drop these, from 0.
    """
    return in_order(encoder, kept_layers(encoder.model.config.num_hidden_layers, encoder.name, last, every, layers))
