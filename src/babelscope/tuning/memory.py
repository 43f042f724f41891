"""What makes a step fit into memory: portions of its batch, whose gradients add up, and states computed twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from babelscope.core.errors import InputError
from babelscope.encoders.pieces import cut_by_tokens
from babelscope.tasks.task import Objective, divisible
from babelscope.tuning.freezing import backbone_of
from babelscope.tuning.settings import Tuning


class Portion(NamedTuple):
    """Examples that are computed at once."""

    batch: Any
    share: float
    """Of the batch's loss: that of its words, texts or hidden pieces, whatever the loss is a mean of."""


def portions(task: Objective, indices: NDArray[np.int64], seed: int, micro_tokens: int | None) -> list[Portion]:
    """The training examples at `indices` [examples of the batch], in portions, the shortest first.

    A portion has at most `micro_tokens` pieces, padding included.

    Without a limit they are one portion, and what is drawn is drawn for the batch. With one it is drawn for each
    example by itself, so that another limit changes last digits alone.

    Raises:
        InputError: the task's loss is no mean that can be put together.
    """
    if micro_tokens is None:
        return [Portion(task.batch(indices, torch.Generator().manual_seed(seed)), 1.0)]
    if (divided := divisible(task)) is None:
        raise InputError(
            f"micro_tokens={micro_tokens}: {type(task).__name__} is trained on whole batches; leave it out"
        )
    ordered = indices[np.argsort(task.lengths[indices], kind="stable")]
    batches, weights = zip(
        *(divided.portion(part, seed) for part in cut_by_tokens(ordered, task.lengths, micro_tokens)), strict=True
    )
    return [Portion(batch, weight / sum(weights)) for batch, weight in zip(batches, weights, strict=True)]


@contextmanager
def recomputing(model: nn.Module, tuning: Tuning) -> Iterator[None]:
    """While the block lasts, layers keep their input alone for the gradient, if the tuning says so.

    Raises:
        InputError: the model has no pre-trained encoder.
    """
    if not tuning.recompute:
        yield
        return
    backbone = backbone_of(model)
    # Older versions of transformers have the second name alone.
    enable = getattr(backbone, "activation_checkpointing_enable", None) or backbone.gradient_checkpointing_enable
    disable = getattr(backbone, "activation_checkpointing_disable", None) or backbone.gradient_checkpointing_disable
    enable({"use_reentrant": False})
    try:
        yield
    finally:
        disable()
