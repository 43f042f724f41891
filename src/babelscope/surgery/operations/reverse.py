"""Reverse the layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from babelscope.surgery.operation import Operation

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Reverse(Operation):
    """Put the layers in reverse order (Zhang, 2021, section 3)."""

    operation: Literal["reverse"] = "reverse"

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        from babelscope.surgery.order import in_order

        return in_order(encoder, range(encoder.model.config.num_hidden_layers)[::-1])
