"""Trained weights in a quarter of the bytes: how far a training has moved them, rounded to whole steps of each row.

A row of a matrix has steps of its own, a 127th of the largest move in it, so that no weight is further than half of
such a step from where the training left it. Vectors (biases, norms) are kept as they are, and so are weights that have
not moved.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.encoders.written import tensors_digest

STEPS = 127
"""Of the largest move in a row, up and down: what a byte holds."""
ROW_STEP = "/row-step"
"""After the name of a matrix, what holds the size of each row's step."""
START = "/start"
"""What holds the SHA-256 of the weights that the training began with; what was kept before there was one has none."""


@torch.no_grad()
def compacted(start: Mapping[str, Tensor], trained: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What is kept of trained weights.

    Args:
        start: what the training began with, by name.
        trained: what it ended with, of the same names and shapes.
    """
    kept = {START: _digest(start)}
    for name, weight in trained.items():
        if torch.equal(weight, start[name]):
            continue
        if weight.ndim < 2:
            kept[name] = weight
            continue
        moved = (weight - start[name]).flatten(1)
        step = moved.abs().amax(1) / STEPS
        kept[name] = (moved / step.where(step > 0, 1)[:, None]).round().to(torch.int8).view_as(weight)
        kept[name + ROW_STEP] = step
    return kept


@torch.no_grad()
def restored(start: Mapping[str, Tensor], kept: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights by what `compacted` has kept, with the same `start`.

    Raises:
        InputError: it is not the same to the last bit, as operations on weights can come out on another machine.
    """
    if START in kept and not torch.equal(kept[START], _digest(start)):
        raise InputError(
            "the weights that the training began with come out with other bits here than where it was computed (by "
            "another kind of processor), and keep: compact keeps how far they moved alone; read them there, or run "
            "the study here in a store of its own, or with keep: best"
        )
    return {name: _restored(weight, kept.get(name), kept.get(name + ROW_STEP)) for name, weight in start.items()}


def _digest(weights: Mapping[str, Tensor]) -> Tensor:
    """[32], bytes."""
    return torch.frombuffer(bytearray.fromhex(tensors_digest(weights, {})), dtype=torch.uint8)


def _restored(start: Tensor, kept: Tensor | None, step: Tensor | None) -> Tensor:
    if kept is None or step is None:
        return start if kept is None else kept
    return start + (kept.flatten(1) * step[:, None]).view_as(start)
