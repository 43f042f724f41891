"""Running only some of the layers of a backbone, whatever its family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel


class Bypass:
    """Stands between a backbone and its layers: those outside of a range pass on the states that they are given.

    Layers are numbered from 0; the states "at" a layer are those before it.
    """

    def __init__(self, backbone: PreTrainedModel, layers: Sequence[nn.Module]):
        self._backbone, self._layers = backbone, layers
        for number, layer in enumerate(layers):
            # An attribute of the instance goes before the method of its class.
            vars(layer)["forward"] = partial(self._forward, number, layer.forward)
        self._others: tuple[None, ...] | None = None
        self.all_layers()
        piece = torch.ones(1, 1, dtype=torch.long, device=backbone.device)
        with torch.no_grad():
            backbone.forward(input_ids=piece, attention_mask=piece)  # shows what the layers return

    def remove(self) -> None:
        """Give the layers back their own forward."""
        for layer in self._layers:
            del vars(layer)["forward"]

    @property
    def depth(self) -> int:
        """How many layers there are."""
        return len(self._layers)

    def all_layers(self) -> None:
        """From now on, compute all layers."""
        self._range(0, self.depth, None)

    def enter(self, start: int, states: Tensor) -> None:
        """From now on, begin with these states at layer `start`; at `depth` they go through untouched."""
        self._range(start, self.depth, states)

    @torch.no_grad()
    def between(self, start: int, end: int, states: Tensor | None, inputs: Mapping[str, Any]) -> Tensor:
        """The states at layer `end` (before the last one at most), from those at `start`; None: from the embeddings."""
        self._range(start, end, states)
        self._backbone.forward(**inputs)
        left = self._left
        self.all_layers()
        return left

    def _range(self, start: int, end: int, states: Tensor | None) -> None:
        self._start, self._end, self._entering = start, end, states

    def _forward(self, number: int, own: Callable[..., Any], states: Tensor, *args: Any, **kwargs: Any) -> Any:
        if number == self._start and self._entering is not None:
            states = self._entering
        if number == self._end:
            self._left = states
        if not self._start <= number < self._end:
            # Some families' layers return a tuple, of which the states are the first.
            return states if self._others is None else (states, *self._others)
        output = own(states, *args, **kwargs)
        self._others = (None,) * (len(output) - 1) if isinstance(output, tuple) else None
        return output
