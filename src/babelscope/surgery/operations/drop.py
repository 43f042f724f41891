"""Remove layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from babelscope.core.errors import InputError
from babelscope.surgery.fields import MOST_LAYERS, Layers, check_layers
from babelscope.surgery.operation import Operation

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Drop(Operation):
    """Remove layers: the `last` ones (a number or `half`), every n-th (`every=2`: layers 1, 3, ...), or a list.

    The layers that are left keep their order (Zhang, 2021, section 6).
    """

    operation: Literal["drop"] = "drop"
    last: Annotated[int, Field(gt=0, le=MOST_LAYERS)] | Literal["half"] | None = None
    """So many layers from the end. Half of an odd number is rounded down."""
    every: Annotated[int, Field(ge=2, le=MOST_LAYERS)] | None = None
    """Every n-th layer."""
    layers: Layers | None = None
    """These layers, counted from 0."""

    @model_validator(mode="after")
    def _one_way(self) -> Drop:
        if sum(given is not None for given in (self.last, self.every, self.layers)) != 1:
            raise ValueError("give one of last, every and layers, such as drop:last=6")
        return self

    def layers_after(self, count: int, name: str) -> int:
        return len(self._kept(count, name))

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        from babelscope.surgery.order import in_order

        return in_order(encoder, self._kept(encoder.model.config.num_hidden_layers, encoder.name))

    def _kept(self, count: int, name: str) -> list[int]:
        check_layers(self.layers or (), count, name)
        last = count // 2 if self.last == "half" else self.last or 0
        every = range(self.every - 1, count, self.every) if self.every else ()
        dropped = {*(self.layers or ()), *range(count - last, count), *every}
        kept = [layer for layer in range(count) if layer not in dropped]
        if not 0 < len(kept) < count:
            raise InputError(f"{name} has {count} layers; drop one at least, and keep one at least")
        return kept
