"""Drop layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from babelscope.encoders.load import Encoder
from babelscope.errors import InputError
from babelscope.surgery.order import in_order
from babelscope.surgery.parts import check_layers


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
    count = encoder.model.config.num_hidden_layers
    dropped = set(layers or ())
    check_layers(encoder, sorted(dropped))
    dropped |= set(range(count - (count // 2 if last == "half" else last or 0), count))
    dropped |= set(range(every - 1, count, every)) if every else set()
    kept = [layer for layer in range(count) if layer not in dropped]
    if not 0 < len(kept) < count:
        raise InputError(f"drop: {encoder.name} has {count} layers; drop one at least, and keep one at least")
    return in_order(encoder, kept)
