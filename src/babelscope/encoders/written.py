"""Weights on their way to the disk: none that are NaN or infinite get there, files have the usual modes, and a digest
tells whether they are still what was written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from babelscope.core.errors import DivergedError
from babelscope.core.files import share


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file."""
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, path, metadata)
    share(path)


def tensors_digest(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    """SHA-256 (hex) of metadata, names, types, shapes and bytes of tensors in memory, which are not copied."""
    hashed = sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        hashed.update(json.dumps([name, str(tensors[name].dtype), tensors[name].shape]).encode())
        hashed.update(tensors[name].detach().reshape(-1).view(torch.uint8).numpy().data)
    return hashed.hexdigest()


def check_finite(weights: Mapping[str, Tensor]) -> None:
    """Refuse to write weights that are NaN or infinite.

    Raises:
        DivergedError: names the first tensor with any.
    """
    if problem := non_finite(weights):
        raise DivergedError(f"{problem}, so they are not written")


def non_finite(weights: Mapping[str, Tensor]) -> str | None:
    """What is wrong with the first tensor that has NaN or infinities; None if all are finite."""
    for name, weight in weights.items():
        # A sum over them is not finite either, and takes far less time than to look at each.
        if weight.is_floating_point() and not weight.sum().isfinite() and not (finite := weight.isfinite()).all():
            return f"{name}: {int((~finite).sum()):,} of {weight.numel():,} weights are NaN or infinite"
    return None
