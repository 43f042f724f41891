"""What frozen layers give for a sequence, computed once and kept.

Where the embeddings and the first layers are frozen, their states for a sequence of pieces are the same in every
epoch. A memo keeps them, and `recalling` lets the backbone pass over these layers. The last bits of a state may depend
on the sequences beside it in a batch, so what is kept belongs to a group of sequences that are always computed
together: the groups of a run follow from its data alone, and not from what other runs have left in the memo.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import PreTrainedModel

from babelscope.tuning.bypass import Bypass
from babelscope.tuning.freezing import backbone_of, layers_of
from babelscope.tuning.memo import StateMemo
from babelscope.tuning.schedule import Schedule

Paused = Callable[[], AbstractContextManager[None]]
"""Within `paused()` all layers are computed, so that they can be looked at."""


@contextmanager
def recalling(
    model: nn.Module,
    schedule: Schedule | None,
    memo: StateMemo | None,
    lengths: NDArray[np.int64],
    folder: Path,
    read: Callable[[], object] = lambda: None,
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
        read: has the model read all training examples in batches that do not depend on the run's seed.
    """
    if memo is None or schedule is None:
        yield nullcontext
        return
    backbone = backbone_of(model)
    layers = layers_of(backbone)
    depth = min(schedule.constant_layers(len(layers)), len(layers) - 1)
    needed = int(lengths.sum()) * backbone.config.hidden_size * 4
    if depth < 1 or not memo.open(layer_digests(backbone, depth), needed, folder):
        yield nullcontext
        return
    recall = Recall(backbone, memo, depth)
    try:
        with recall.learning():
            read()
        yield recall.paused
    finally:
        recall.remove()


def layer_digests(backbone: PreTrainedModel, depth: int) -> list[str]:
    """[depth + 1]: what decides the states after the embeddings (0) and after each of the first layers (1 ...).

    It is the configuration, the kind of device, the number of threads, and all weights below.
    """
    layers = layers_of(backbone)
    inside = {parameter for layer in layers for parameter in layer.parameters()}
    machine = f"{backbone.device.type}{torch.get_num_threads()}"
    below = hashlib.sha256(f"{backbone.config.to_json_string()}{machine}".encode())
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


class _Group(NamedTuple):
    """Sequences that are computed together: ids, and where there are any, a mask and types, [sequences, pieces]."""

    digest: bytes
    inputs: dict[str, Tensor]
    lengths: list[int]

    def key(self, row: int) -> bytes:
        """What the memo knows a sequence by."""
        return self.digest + row.to_bytes(4, "big")


class Recall:
    """A backbone that passes over its first `depth` layers: their states come from a memo, which learns what is new."""

    def __init__(self, backbone: PreTrainedModel, memo: StateMemo, depth: int):
        self.backbone, self.memo, self.depth = backbone, memo, depth
        self._signature = signature(backbone.forward)
        self._bypass = Bypass(backbone, layers_of(backbone))
        self._hook = backbone.register_forward_pre_hook(self._before, with_kwargs=True)
        self._on, self._above = True, True
        self._places: dict[bytes, tuple[_Group, int]] = {}

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

    @contextmanager
    def learning(self) -> Iterator[None]:
        """The layers above are passed over too in this block: it serves to have their states at hand."""
        self._above = False
        try:
            with torch.no_grad(), torch.random.fork_rng():
                yield
        finally:
            self._above = True

    def _before(self, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Have the states of a batch at hand before the backbone reads it."""
        if self._on:
            given = self._signature.bind(*args, **kwargs).arguments
            states = self.states(given["input_ids"], given.get("attention_mask"), given.get("token_type_ids"))
            self._bypass.enter(self.depth if self._above else self._bypass.depth, states)

    @torch.no_grad()
    def states(self, ids: Tensor, mask: Tensor | None, types: Tensor | None) -> Tensor:
        """[sequences, pieces, hidden]: the states after the first `depth` layers; zeros at padding.

        Sequences that the run has not met become a group of their own.
        """
        columns = [ids.cpu()] if types is None else [ids.cpu(), types.cpu()]
        lengths = [ids.shape[1]] * len(ids) if mask is None else mask.sum(1).tolist()
        autocast = bytes([torch.is_autocast_enabled(self.backbone.device.type)])
        contents = [
            autocast + b"".join(column[row, :length].numpy().tobytes() for column in columns)
            for row, length in enumerate(lengths)
        ]
        fresh = {content: row for row, content in enumerate(contents) if content not in self._places}
        if fresh:
            rows = list(fresh.values())
            group = _group(columns, [lengths[row] for row in rows], rows, b"".join(fresh))
            self._places |= {content: (group, place) for place, content in enumerate(fresh)}
        computed: dict[bytes, list[Tensor]] = {}
        sequences = [self._row(content, computed) for content in contents]
        return _padded(sequences, ids.shape[1]).to(ids.device)

    def _row(self, content: bytes, computed: dict[bytes, list[Tensor]]) -> Tensor:
        """[pieces, hidden]: the states of one sequence, from the memo or from its group, which is computed once."""
        group, row = self._places[content]
        known = self.memo.get(group.key(row))
        if known is not None and known.depth == self.depth:
            return known.states
        if group.digest not in computed:
            computed[group.digest] = self._compute(group)
        return computed[group.digest][row]

    def _compute(self, group: _Group) -> list[Tensor]:
        """[sequences] of [pieces, hidden]: the states of a group, which the memo learns; from lower ones if it can."""
        device = self.backbone.device
        inputs = {name: tensor.to(device) for name, tensor in group.inputs.items()}
        known = [self.memo.get(group.key(row)) for row in range(len(group.lengths))]
        below = [entry.states for entry in known if entry is not None]
        start = known[0].depth if known[0] is not None and len(below) == len(known) else 0
        states = _padded(below, max(group.lengths)).to(device) if start else None
        output = self._bypass.between(start, self.depth, states, inputs).float().cpu()
        sequences = [output[row, :length].clone() for row, length in enumerate(group.lengths)]
        for row, sequence in enumerate(sequences):
            self.memo.put(group.key(row), self.depth, sequence)
        return sequences


def _group(columns: list[Tensor], lengths: list[int], rows: list[int], content: bytes) -> _Group:
    """Some sequences of a batch, whose ids, and types if any, are given; as wide as the longest."""
    width = max(lengths)
    inputs = {
        name: column[rows, :width] for name, column in zip(("input_ids", "token_type_ids"), columns, strict=False)
    }
    if min(lengths) < width:
        inputs["attention_mask"] = torch.arange(width) < torch.tensor(lengths)[:, None]
    return _Group(hashlib.sha256(f"{lengths}".encode() + content).digest(), inputs, lengths)


def _padded(rows: list[Tensor], width: int) -> Tensor:
    """[sequences, width, hidden]: states one under the other; zeros at padding."""
    padded = rows[0].new_zeros(len(rows), width, rows[0].shape[-1])
    for place, row in zip(padded, rows, strict=True):
        place[: len(row)] = row
    return padded
