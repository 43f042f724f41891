"""Dropout that is drawn for each example by itself, whatever else is computed with it.

torch draws one mask for all of a batch, so that a batch in parts would drop other units than the whole one. Here a
mask is a hash of (seed, step, module, example or word, place in it), and parts differ from the whole in last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from babelscope.core.seeds import derive_seed
from babelscope.tuning.freezing import backbone_of

_ODD = 0x9E3779B97F4A7C15 - 2**64
_FACTORS = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)
_BITS = 31


class OwnDropout:
    """Which units of a batch are dropped. Units are the first dimension of what a module is given: examples, or words.

    They are numbered through the portions of a batch, in the order in which a module meets them.
    """

    def __init__(self, model: nn.Module, seed: int):
        self._numbers = {module: number for number, module in enumerate(model.modules())}
        self._inside = set(backbone_of(model).modules())
        self._seed = seed
        self._ends: dict[int, int] = {}
        self.begin(0, 0)  # what is frozen is asked for states before the first step

    def begin(self, step: int, portion: int) -> None:
        """A portion of a step's batch begins; portions are numbered from 0."""
        self._step, self._starts = step, dict(self._ends) if portion else {}
        if not portion:
            self._ends.clear()

    def __call__(self, module: nn.Module, states: Tensor, share: float) -> Tensor:
        """Drop a share of the units of what a module is given, and scale the others."""
        number = self._numbers[module]
        # Matrices inside of an encoder are of no example, such as DeBERTa's embeddings of distances.
        start = 0 if module in self._inside and states.ndim == 2 else self._starts.get(number, 0)
        # A layer whose states are computed a second time, to save memory, meets the same examples again.
        self._ends[number] = start + len(states)
        key = derive_seed(self._seed, "dropout", self._step, number) >> 1
        return states * kept(tuple(states.shape), start, key, share, states.device) / (1 - share)


def kept(shape: tuple[int, ...], start: int, key: int, share: float, device: torch.device) -> Tensor:
    """[*shape], bool: which values stay, all but about `share`. Row r follows from start + r, not from the shape."""
    hashed = torch.full((), key, dtype=torch.int64, device=device)
    for size, first in zip(shape, (start, *(0 for _ in shape[1:])), strict=True):
        hashed = _mixed(hashed[..., None] + torch.arange(first, first + size, device=device) * _ODD)
    return (hashed & (2**_BITS - 1)) >= round(share * 2**_BITS)


def _mixed(numbers: Tensor) -> Tensor:
    """Each number's hash (the finaliser of SplitMix64; Steele et al., 2014). Overflow is meant."""
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        numbers = (numbers ^ _shifted(numbers, shift)) * factor
    return numbers ^ _shifted(numbers, 31)


def _shifted(numbers: Tensor, bits: int) -> Tensor:
    return (numbers >> bits) & (2 ** (64 - bits) - 1)


@contextmanager
def own_dropout(model: nn.Module, seed: int) -> Iterator[OwnDropout]:
    """Have a model drop units for each example by itself while the block lasts, in its attention too.

    Raises:
        InputError: the model has no pre-trained encoder.
    """
    drop = OwnDropout(model, seed)
    dropping = [module for module in model.modules() if isinstance(module, nn.Dropout)]
    attention = ALL_ATTENTION_FUNCTIONS["sdpa"]
    for module in dropping:
        vars(module)["forward"] = partial(_forward, drop, module)  # an attribute goes before the method of its class
    ALL_ATTENTION_FUNCTIONS["sdpa"] = partial(_attention, attention, drop)
    try:
        yield drop
    finally:
        ALL_ATTENTION_FUNCTIONS["sdpa"] = attention
        for module in dropping:
            del vars(module)["forward"]


def _forward(drop: OwnDropout, module: nn.Dropout, states: Tensor) -> Tensor:
    return drop(module, states, module.p) if module.training and module.p else states


def _attention(
    usual: Callable[..., Any],
    drop: OwnDropout,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    **others: Any,
) -> tuple[Tensor, None]:
    """Attention as transformers' `sdpa`, which gives its weights where the values are the identity; these are dropped.

    Args, by transformers' interface:
        query: [examples, heads, pieces, width of a head]; key and value alike, with fewer heads in some families.
    """
    if not dropout:
        return usual(module, query, key, value, attention_mask, dropout=0.0, **others)
    identity = torch.eye(value.shape[2], dtype=value.dtype, device=value.device).expand(*value.shape[:2], -1, -1)
    weights = usual(module, query, key, identity, attention_mask, dropout=0.0, **others)[0].transpose(1, 2)
    value = value.repeat_interleave(weights.shape[1] // value.shape[1], dim=1)
    return (drop(module, weights, dropout) @ value).transpose(1, 2).contiguous(), None
