"""Reverse the layers."""

from __future__ import annotations

from babelscope.encoders.load import Encoder
from babelscope.surgery.order import in_order


def reverse(encoder: Encoder) -> Encoder:
    """The encoder with its layers in reverse order (Zhang, 2021, section 3)."""
    return in_order(encoder, range(encoder.model.config.num_hidden_layers)[::-1])
