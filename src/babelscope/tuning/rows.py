"""Word embeddings of which batches read few rows: a step moves those that have been read, the others when looked at.

Most weights of a multilingual encoder are word embeddings (of XLM-R-base seven of ten), and a text reads few of them.
AdamW leaves a row that no batch has read yet as it is but for weight decay. What the row owes of that is kept as
factors, and made up for once something reads it. So every weight has the same bits as if all rows took every step,
as long as gradients are finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import get_total_norm
from torch.optim.adamw import adamw

LEAST = 1 << 22
"""Numbers of an embedding; a smaller one is in the processor's cache, where all of it takes a step as fast."""
LANES = 16
"""Numbers that a processor computes at once. Of what is left over at an end the last digits can differ."""
CHUNK = 256
"""Rows that are made up to date at once, so that they stay in the cache while they are."""


class ReadRows:
    """The rows of one embedding, which is a part of a flat parameter."""

    def __init__(self, embedding: nn.Embedding, flat: nn.Parameter):
        start = embedding.weight.storage_offset()
        self.place = slice(start, start + embedding.weight.numel())
        self.flat = flat
        self.read = torch.zeros(embedding.num_embeddings, dtype=torch.bool)
        """Those that have been read in training: all others have moments of 0."""
        self._embedding, self._shape = embedding, embedding.weight.shape
        self._owed: list[float] = []
        self._recalled = False
        embedding.forward = self._look_up  # type: ignore[assignment, method-assign]

    @property
    def many(self) -> bool:
        """Whether most of them have been read, so that all rows at once are as fast."""
        return 2 * int(self.read.sum()) > len(self.read)

    def of(self, flat: Tensor) -> Tensor:
        """The rows in a tensor like the flat parameter."""
        return flat[self.place].view(self._shape)

    def owe(self, factor: float) -> None:
        """A step has been taken that multiplies what has not been read with this."""
        if factor != 1:
            self._owed.append(factor)

    def recall(self, moments: Sequence[Tensor]) -> None:
        """At the first step: what an interrupted run had read has moments; a row with none is as one that was not."""
        if self._recalled:
            return
        for moment in moments:
            self.read |= self.of(moment).any(dim=1)
        self._recalled = True

    def settle(self) -> None:
        """Make up for what is owed."""
        if self._owed:
            weights = self.of(self.flat.data)
            for rows in (~self.read).nonzero().flatten().split(CHUNK):
                weights.index_copy_(0, rows, self._decayed(weights.index_select(0, rows)))
            self._owed = []

    def release(self) -> None:
        """Settle, and leave the embedding to torch."""
        self.settle()
        self._embedding.__dict__.pop("forward", None)

    def _decayed(self, rows: Tensor) -> Tensor:
        for factor in self._owed:
            rows *= factor
        return rows

    def _look_up(self, ids: Tensor) -> Tensor:
        weight, padding = self._embedding.weight, self._embedding.padding_idx
        if not (torch.is_grad_enabled() and weight.requires_grad):
            self.settle()
            return functional.embedding(ids, weight, padding)
        unique = ids.unique()
        fresh = unique[~self.read[unique]]
        weights = self.of(self.flat.data)
        weights.index_copy_(0, fresh, self._decayed(weights.index_select(0, fresh)))
        self.read[fresh] = True
        looked_up: Tensor = _LookUp.apply(weight, ids, padding)
        return looked_up


class _LookUp(torch.autograd.Function):
    """An embedding that adds its gradient to the rows that were read; torch's own adds one of all rows, mostly 0."""

    @staticmethod
    def forward(ctx: Any, weight: nn.Parameter, ids: Tensor, padding: int | None) -> Tensor:
        ctx.save_for_backward(ids)
        ctx.gradient, ctx.padding = weight.grad, padding
        return functional.embedding(ids, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, None]:
        (ids,), (gradient,) = ctx.saved_tensors, gradients
        read = torch.ones_like(ids, dtype=torch.bool) if ctx.padding is None else ids != ctx.padding
        unique, places = ids[read].unique(return_inverse=True)
        of_batch = torch.zeros(len(unique), gradient.shape[-1]).index_add_(0, places, gradient[read])
        ctx.gradient.index_add_(0, unique, of_batch)
        return None, None, None


@contextmanager
def read_rows(model: nn.Module, embedding: nn.Module, flats: Sequence[nn.Parameter]) -> Iterator[ReadRows | None]:
    """An embedding of a model by rows while the block lasts; None where it is small, or torch's way has to do.

    Nothing but the embedding itself may read its weights, which are a part of one of the flat parameters.
    """
    of_flat = next((flat for flat in flats if _suits(embedding, model, flat)), None)
    rows = None if of_flat is None else ReadRows(cast("nn.Embedding", embedding), of_flat)
    try:
        yield rows
    finally:
        if rows is not None:
            rows.release()


def _suits(embedding: nn.Module, model: nn.Module, flat: nn.Parameter) -> bool:
    """Whether it is a large part of it, and torch computes on its rows and on what is beside them as on the whole."""
    if type(embedding) is not nn.Embedding or embedding.weight.numel() < LEAST:
        return False
    weight = embedding.weight
    plain = embedding.max_norm is None and not (embedding.sparse or embedding.scale_grad_by_freq)
    inside = weight.untyped_storage().data_ptr() == flat.untyped_storage().data_ptr()
    whole = weight.storage_offset() % LANES == 0 == weight.shape[1] % LANES
    owners = sum(own is weight for module in model.modules() for own in module.parameters(recurse=False))
    return plain and inside and whole and owners == 1


def descend(optimizer: torch.optim.AdamW, rows: ReadRows, clip: float | None) -> None:
    """Clip the gradient, take a step and clear the gradient, as torch does it; of `rows` what has been read."""
    flats = [group["params"][0] for group in optimizer.param_groups]
    gradients = [flat.grad for flat in flats if flat.grad is not None]
    share = None if clip is None else (clip / (get_total_norm(gradients) + 1e-6)).clamp(max=1.0)
    for group, flat in zip(optimizer.param_groups, flats, strict=True):
        if flat.grad is not None:
            _descend(optimizer, group, rows if rows.flat is flat else None, share)


@torch.no_grad()
def _descend(optimizer: torch.optim.AdamW, group: dict[str, Any], rows: ReadRows | None, share: Tensor | None) -> None:
    (flat,) = group["params"]
    state = _state(optimizer, flat)
    tensors = [flat.data, flat.grad, state["exp_avg"], state["exp_avg_sq"]]
    rest = [slice(0, rows.place.start), slice(rows.place.stop, None)] if rows else [slice(None)]
    for place in rest:
        _step([tensor[place] for tensor in tensors], state["step"], group, share)
    if rows:
        rows.recall(tensors[2:])
        read, parts = rows.read.nonzero().flatten(), [rows.of(tensor) for tensor in tensors]
        taken = [part.index_select(0, read) for part in parts]
        _step(taken, state["step"], group, share)
        for part, moved in zip(parts, taken, strict=True):
            part.index_copy_(0, read, moved)
        rows.owe(1 - group["lr"] * group["weight_decay"])
    state["step"] += 1


def _state(optimizer: torch.optim.AdamW, flat: nn.Parameter) -> dict[str, Tensor]:
    """As torch begins it."""
    state = optimizer.state[flat]
    if not state:
        state |= {"step": torch.zeros(()), "exp_avg": torch.zeros_like(flat), "exp_avg_sq": torch.zeros_like(flat)}
    return state


def _step(tensors: Sequence[Tensor], steps: Tensor, group: dict[str, Any], share: Tensor | None) -> None:
    """AdamW's step of weights, which clears their gradient; tensors are these two, and the moments."""
    weight, gradient, mean, square = tensors
    if share is not None:
        gradient *= share
    first, second = group["betas"]
    adamw(
        [weight], [gradient], [mean], [square], [], [steps.clone()], fused=True, amsgrad=False, beta1=first,
        beta2=second, lr=group["lr"], weight_decay=group["weight_decay"], eps=group["eps"], maximize=False,
    )  # fmt: skip
    gradient.zero_()
