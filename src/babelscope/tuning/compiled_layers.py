"""An encoder's layers, each compiled by torch: what is between its matrix products becomes a few kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

OPTIONS = {"fx_graph_cache": False, "triton.mix_order_reduction": False, "deterministic": True, "compile_threads": 4}
"""So that no bit depends on what was compiled before, on the size of later batches, or on what a trial found faster.
Few processes compile, since several trainings may share a machine."""


class CompiledLayers:
    """Layers that are alike are compiled once, by the first batch that they read, for batches of all shapes.

    How sums are divided follows from that batch. So what was compiled before, by other batches, is not used.
    """

    def __init__(self, layers: Sequence[nn.Module]):
        torch.compiler.reset()
        options = _known(OPTIONS)
        self._passes = {layer: torch.compile(layer.forward, dynamic=True, options=options) for layer in layers}

    @contextmanager
    def used(self) -> Iterator[None]:
        """While the block lasts, layers compute by their compiled passes."""
        for layer, compiled in self._passes.items():
            vars(layer)["forward"] = compiled  # an attribute goes before the method of its class
        try:
            yield
        finally:
            for layer in self._passes:
                del vars(layer)["forward"]


def _known(options: dict[str, Any]) -> dict[str, Any]:
    """Those that this version of torch has."""
    from torch._inductor import list_options  # takes a second to import

    known = set(list_options())
    return {name: value for name, value in options.items() if name in known}
