"""What frozen layers give for a sequence, computed once and kept.

Where the embeddings and the first layers are frozen, their states for a sequence of pieces are the same in every
epoch. A memo keeps them, and `recalling` lets the backbone pass over these layers. A sequence is computed by itself,
unpadded, so that what is kept of it does not depend on which batch or run met it first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import PreTrainedModel

from babelscope.tuning.bypass import Bypass
from babelscope.tuning.freezing import backbone_of, layers_of
from babelscope.tuning.memo import StateMemo
from babelscope.tuning.schedule import Schedule, constant_layers

Paused = Callable[[], AbstractContextManager[None]]
"""Within `paused()` all layers are computed, so that they can be looked at."""


@contextmanager
def recalling(
    model: nn.Module, schedule: Schedule | None, memo: StateMemo | None, lengths: NDArray[np.int64], folder: Path
) -> Iterator[Paused]:
    """Let the model's constant layers recall what they gave, while the block lasts.

    Nothing happens without a memo, without a constant layer, or where the memo has no room for the training examples.
    The last layer is always computed, so that a norm after it is too.

    Args:
        model: in the modes of training, so that its constant layers have no dropout.
        schedule: says which layers are constant.
        memo: may know the same encoder's states from other runs, of the same or of fewer layers.
        lengths: [examples], pieces of each training example.
        folder: for the memo's file.
    """
    if memo is None or schedule is None:
        yield nullcontext
        return
    backbone = backbone_of(model)
    layers = layers_of(backbone)
    depth = min(constant_layers(schedule, len(layers)), len(layers) - 1)
    needed = int(lengths.sum()) * backbone.config.hidden_size * 4
    if depth < 1 or not memo.open(layer_digests(backbone, depth), needed, folder):
        yield nullcontext
        return
    recall = Recall(backbone, memo, depth)
    try:
        yield recall.paused
    finally:
        recall.remove()


def layer_digests(backbone: PreTrainedModel, depth: int) -> list[str]:
    """[depth + 1]: what decides the states after the embeddings (0) and after each of the first layers (1 ...).

    It is the configuration, the kind of device, and all weights below.
    """
    layers = layers_of(backbone)
    inside = {parameter for layer in layers for parameter in layer.parameters()}
    below = hashlib.sha256(f"{backbone.config.to_json_string()}{backbone.device.type}".encode())
    for name, parameter in backbone.named_parameters():
        if parameter not in inside and not name.startswith("pooler."):
            _add(below, parameter)
    digests = [below.hexdigest()]
    for layer in layers[:depth]:
        for parameter in layer.parameters():
            _add(below, parameter)
        digests.append(below.hexdigest())
    return digests


def _add(running: Any, tensor: Tensor) -> None:
    running.update(tensor.detach().cpu().contiguous().numpy())


class Recall:
    """A backbone that passes over its first `depth` layers: their states come from a memo, which learns what is new."""

    def __init__(self, backbone: PreTrainedModel, memo: StateMemo, depth: int):
        self.backbone, self.memo, self.depth = backbone, memo, depth
        self._signature = signature(backbone.forward)
        self._bypass = Bypass(backbone, layers_of(backbone))
        self._hook = backbone.register_forward_pre_hook(self._before, with_kwargs=True)
        self._on = True

    def remove(self) -> None:
        """Make the backbone as it was."""
        self._hook.remove()
        self._bypass.remove()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """All layers are computed in this block."""
        self._on = False
        self._bypass.all_layers()
        try:
            yield
        finally:
            self._on = True

    def _before(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Have the states of a batch at hand before the backbone reads it."""
        if self._on:
            given = self._signature.bind(*args, **kwargs).arguments
            ids, mask = given["input_ids"], given.get("attention_mask")
            self._bypass.enter(self.depth, self.states(ids, mask, given.get("token_type_ids")))

    @torch.no_grad()
    def states(self, ids: Tensor, mask: Tensor | None, types: Tensor | None) -> Tensor:
        """[sequences, pieces, hidden]: the states after the first `depth` layers; zeros at padding."""
        columns = [ids.cpu()] if types is None else [ids.cpu(), types.cpu()]
        lengths = [ids.shape[1]] * len(ids) if mask is None else mask.sum(1).tolist()
        rows = [self._row(tuple(one[row, :length] for one in columns)) for row, length in enumerate(lengths)]
        padded = torch.zeros(*ids.shape, rows[0].shape[-1], dtype=rows[0].dtype)
        for place, row in zip(padded, rows, strict=True):
            place[: len(row)] = row
        return padded.to(ids.device)

    def _row(self, columns: tuple[Tensor, ...]) -> Tensor:
        """[pieces, hidden]: the states of one sequence of ids, with types where there are any."""
        device = self.backbone.device
        autocast = torch.is_autocast_enabled(device.type)
        key = bytes([autocast]) + b"".join(one.numpy().tobytes() for one in columns)
        known = self.memo.get(key)
        if known is not None and known.depth == self.depth:
            return known.states
        names = ("input_ids", "token_type_ids")
        inputs = {name: one[None].to(device) for name, one in zip(names, columns, strict=False)}
        start, states = (0, None) if known is None else (known.depth, known.states[None].to(device))
        states = self._bypass.between(start, self.depth, states, inputs)[0].float().cpu()
        self.memo.put(key, self.depth, states)
        return states
