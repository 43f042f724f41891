"""Repeat layers."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.encoders.load import Encoder
from babelscope.surgery.order import in_order
from babelscope.surgery.parts import check_layers


def repeat(encoder: Encoder, layers: Sequence[int] | None = None, times: int = 2) -> Encoder:
    """The encoder with each of `layers` (default: all) there `times` in a row. The copies are not tied."""
    count = encoder.model.config.num_hidden_layers
    chosen = range(count) if layers is None else layers
    check_layers(encoder, chosen)
    return in_order(encoder, [layer for layer in range(count) for _ in range(times if layer in chosen else 1)])
