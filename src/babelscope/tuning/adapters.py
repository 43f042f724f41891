"""Low-rank adapters (Hu et al., 2022) beside the matrices of layers, through peft; merged into them at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.tuning.checkpoint import module_weights

_BASE = ".base_layer"
"""Where peft keeps a matrix that it adapts, inside of what replaces it."""


@contextmanager
def adapted(layers: Sequence[nn.Module], rank: int, seed: int) -> Iterator[None]:
    """Adapters of a rank beside every matrix of the layers, while the block lasts; then the matrices as they were.

    An adapter adds B A to its matrix. A is drawn from `seed`, B begins at zero, so that nothing changes at first.

    Raises:
        InputError: peft is not installed.
    """
    peft = _peft()
    torch.manual_seed(derive_seed(seed, "adapters"))
    for layer in layers:
        # GPT-2's matrices are stored the other way round.
        config = peft.LoraConfig(
            r=rank, lora_alpha=rank, target_modules=_matrices(layer),
            fan_in_fan_out=any(isinstance(module, Conv1D) for module in layer.modules()),
        )  # fmt: skip
        peft.inject_adapter_in_model(config, layer)
        for name, parameter in layer.named_parameters():
            parameter.requires_grad_(_is_adapter(name))
    try:
        yield
    finally:
        for layer in layers:
            for name, module in list(layer.named_modules()):
                if name.endswith(_BASE):
                    layer.set_submodule(name.removesuffix(_BASE), module)


@torch.no_grad()
def merged_weights(model: nn.Module) -> dict[str, Tensor]:
    """The weights of a model by the names that they have without adapters, which are added to their matrices."""
    weights = {}
    for name, tensor in module_weights(model).items():
        if not _is_adapter(name):
            place, _, leaf = name.partition(_BASE)
            layer: Any = model.get_submodule(place) if leaf == ".weight" else None
            weights[place + leaf] = tensor + layer.get_delta_weight("default") if layer else tensor
    return weights


def _is_adapter(name: str) -> bool:
    """Whether a parameter's name is that of a part of an adapter."""
    return ".lora_" in name


def _matrices(layer: nn.Module) -> list[str]:
    return [name for name, module in layer.named_modules() if isinstance(module, nn.Linear | Conv1D)]


def _peft() -> ModuleType:
    try:
        import peft
    except ImportError:
        raise InputError("lora needs the library peft: pip install 'babelscope[lora]'") from None
    return peft
