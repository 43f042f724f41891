"""An encoder's layers, each compiled by torch: what is between its matrix products becomes a few kernels."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

import torch
from torch import nn

from babelscope.core.errors import InputError


class CompiledLayers:
    """While a block lasts, layers compute by their compiled passes; they are compiled in the first block.

    Layers that are alike are compiled once, for batches of all shapes. How sums are divided follows from the first
    batch, and last digits from that. So what was compiled before, by other batches, is not used.
    """

    def __init__(self, layers: Sequence[nn.Module]):
        torch.compiler.reset()
        self._passes = {
            layer: torch.compile(layer.forward, dynamic=True, options={"fx_graph_cache": False}) for layer in layers
        }

    def __enter__(self) -> None:
        for layer, compiled in self._passes.items():
            vars(layer)["forward"] = compiled  # an attribute goes before the method of its class

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for layer in self._passes:
            del vars(layer)["forward"]
        if error is None:
            return
        from torch._dynamo.exc import TorchDynamoException  # takes a second to import

        if isinstance(error, TorchDynamoException):
            cause = " ".join(str(error).strip().split("\n\n")[0].split())  # before its advice for those who write torch
            raise InputError(f"compile: true: torch cannot compile the layers here: {cause}; leave it out") from error
