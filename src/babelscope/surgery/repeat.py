"""Repeat layers."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.encoders.load import Encoder
from babelscope.surgery.fit import repeated_layers
from babelscope.surgery.order import in_order


def repeat(encoder: Encoder, layers: Sequence[int] | None = None, times: int = 2) -> Encoder:
    """The encoder with each of `layers` (default: all) there `times` in a row. The copies are not tied."""
    return in_order(encoder, repeated_layers(encoder.model.config.num_hidden_layers, encoder.name, layers, times))
