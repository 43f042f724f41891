"""Permute the layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from babelscope.core.errors import InputError
from babelscope.surgery.fields import Layers
from babelscope.surgery.operation import Operation

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Permute(Operation):
    """Put the layers in another order: `order=2+0+1` puts layer 2 first; without `order`, chance decides."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["permute"] = "permute"
    order: Layers | None = None
    """The new order, in which each layer comes once; None: it is drawn at random."""

    @property
    def seeded(self) -> bool:
        """Only an order that is not given is drawn."""
        return self.order is None

    def layers_after(self, count: int, name: str) -> int:
        if self.order is not None and sorted(self.order) != list(range(count)):
            given = "+".join(map(str, self.order))
            raise InputError(f"order {given} must have each of the {count} layers of {name} once, 0 to {count - 1}")
        return count

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        import torch

        from babelscope.surgery.order import in_order
        from babelscope.surgery.parts import stream

        count = self.layers_after(encoder.model.config.num_hidden_layers, encoder.name)
        order = torch.randperm(count, generator=stream(seed, "permute")).tolist() if self.order is None else self.order
        return in_order(encoder, order)
