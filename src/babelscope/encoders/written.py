"""Weights on their way to the disk: none that are NaN or infinite get there, and files have the usual modes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from babelscope.core.errors import DivergedError
from babelscope.core.files import share


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file."""
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, path, metadata)
    share(path)


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
