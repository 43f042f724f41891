"""Repeat layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from babelscope.core.errors import InputError
from babelscope.surgery.fields import MOST_LAYERS, Layers, check_layers
from babelscope.surgery.operation import Operation

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Repeat(Operation):
    """Repeat layers in place, `times` in all: of layers 0 and 1, `repeat` makes 0, 0, 1, 1. Copies are not tied."""

    operation: Literal["repeat"] = "repeat"
    layers: Layers | None = None
    """These layers, counted from 0; None: all."""
    times: Annotated[int, Field(ge=2, le=MOST_LAYERS)] = 2
    """How many times each of these layers is there afterwards."""

    def layers_after(self, count: int, name: str) -> int:
        return len(self._order(count, name))

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        from babelscope.surgery.order import in_order

        return in_order(encoder, self._order(encoder.model.config.num_hidden_layers, encoder.name))

    def _order(self, count: int, name: str) -> list[int]:
        chosen = range(count) if self.layers is None else self.layers
        check_layers(chosen, count, name)
        after = count + (self.times - 1) * len(chosen)
        if after > MOST_LAYERS:
            raise InputError(f"{name} would have {after:,} layers; {MOST_LAYERS:,} are the most")
        return [layer for layer in range(count) for _ in range(self.times if layer in chosen else 1)]
