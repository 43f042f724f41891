"""Piece sequences as one flat array: encoded once, cut into padded batches by a gather."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedTokenizerBase

Sequences = Sequence[Sequence[int] | NDArray[np.int64]]


def evaluation_tokens(device: torch.device) -> int:
    """Pieces of a batch that nothing is learned from: a GPU wants much at a time, a processor's caches little."""
    return 8192 if device.type == "cuda" else 1024


class Batch(NamedTuple):
    """Sequences of pieces, padded to the longest."""

    ids: Tensor
    """[sequences, pieces], int64."""
    real: Tensor
    """[sequences, pieces], bool: False where padded."""
    types: Tensor | None = None
    """[sequences, pieces], int64: which sentence of a pair each piece is of, 0 or 1; None for models without types."""
    padded: bool = True
    """Whether anything may be padded. Known where the batch is made: to look at it on an accelerator is to wait."""

    def to(self, device: torch.device) -> Batch:
        """The same batch on a device."""
        types = None if self.types is None else self.types.to(device)
        return Batch(self.ids.to(device), self.real.to(device), types, self.padded)

    def unmasked(self) -> Batch:
        """The same pieces with padding as if it were text, as in published protocols without a mask."""
        return self._replace(real=torch.ones_like(self.real), padded=False)

    @property
    def attention_mask(self) -> Tensor | None:
        """The mask for a model; None where nothing is padded, so that attention needs no mask at all."""
        return self.real if self.padded else None


@dataclass(frozen=True)
class Pieces:
    """Sequences of piece ids, special pieces included, one after the other."""

    ids: Tensor
    """[all pieces], int64."""
    starts: Tensor
    """[sequences + 1], int64: where each sequence begins in `ids`, and the end."""
    padding_id: int
    types: Tensor | None = None
    """[all pieces], int64: which sentence of a pair each piece is of, 0 or 1."""

    @classmethod
    def of(cls, sequences: Sequences, padding_id: int, types: Sequences | None = None) -> Pieces:
        """Join sequences of piece ids, and of their types."""
        starts = np.zeros(len(sequences) + 1, dtype=np.int64)
        np.cumsum([len(sequence) for sequence in sequences], out=starts[1:])
        ids = _joined(sequences, int(starts[-1]))
        return cls(ids, torch.from_numpy(starts), padding_id, None if types is None else _joined(types, len(ids)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return iter(self._split(self.ids))

    def with_types(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Each sequence with its types; without any they are 0."""
        types = torch.zeros_like(self.ids) if self.types is None else self.types
        return zip(self, self._split(types), strict=True)

    def _split(self, values: Tensor) -> list[NDArray[np.int64]]:
        return np.split(values.numpy(), self.starts[1:-1].numpy())[: len(self)]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """[sequences]: pieces of each sequence, special pieces included."""
        return np.diff(self.starts.numpy())

    def batch(self, indices: NDArray[np.int64]) -> Batch:
        """The sequences at `indices`, in that order."""
        first, last = self.starts[indices], self.starts[indices + 1]
        lengths = last - first
        width = int(lengths.max())
        column = torch.arange(width)
        real = column < lengths[:, None]
        where = (first[:, None] + column).clamp_(max=len(self.ids) - 1)
        types = None if self.types is None else self.types[where].masked_fill_(~real, 0)
        return Batch(self.ids[where].masked_fill_(~real, self.padding_id), real, types, int(lengths.min()) < width)


def _joined(sequences: Sequences, length: int) -> Tensor:
    return torch.from_numpy(np.fromiter((value for sequence in sequences for value in sequence), np.int64, length))


def cut_by_tokens(
    order: NDArray[np.int64], lengths: NDArray[np.int64], tokens_per_batch: int
) -> list[NDArray[np.int64]]:
    """Cut `order` (indices of sequences) into runs of at most `tokens_per_batch` pieces, padding included.

    `lengths` [sequences] are the pieces of each. A sequence longer than that is a run of its own.
    """
    if not len(order):
        return []
    cuts, longest, count = [], 0, 0
    for place, length in enumerate(lengths[order].tolist()):
        longest, count = max(longest, length), count + 1
        if count > 1 and longest * count > tokens_per_batch:
            cuts.append(place)
            longest, count = length, 1
    return np.split(order, cuts)


def by_length(lengths: NDArray[np.int64], tokens_per_batch: int) -> list[NDArray[np.int64]]:
    """The batches of an evaluation: all indices from the shortest sequence to the longest, cut by tokens.

    `lengths` [sequences] are the pieces of each.
    """
    return cut_by_tokens(np.argsort(lengths, kind="stable"), lengths, tokens_per_batch)


def in_order(count: int, sequences_per_batch: int) -> list[NDArray[np.int64]]:
    """Indices of so many sequences in their order, cut into batches of as many as are given."""
    return np.split(np.arange(count), range(sequences_per_batch, count, sequences_per_batch))


@dataclass(frozen=True)
class Frame:
    """The special pieces that a tokenizer puts around every sequence, such as [CLS] and [SEP]."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase) -> Frame:
        """The frame that a tokenizer puts around a probe."""
        probe = tokenizer("a", return_special_tokens_mask=True)
        ids, special = probe["input_ids"], probe["special_tokens_mask"]
        inside = special.index(0)
        width = special[inside:].count(0)
        return cls(tuple(ids[:inside]), tuple(ids[inside + width :]))

    def __len__(self) -> int:
        return len(self.before) + len(self.after)

    def twice(self) -> Frame:
        """Two of each."""
        return Frame(self.before * 2, self.after * 2)

    def around(self, pieces: Sequence[int]) -> list[int]:
        """The framed pieces."""
        return [*self.before, *pieces, *self.after]

    def inside(self, batch: Batch) -> Tensor:
        """[sequences, pieces]: False at padding and at the special pieces before and after."""
        position = torch.arange(batch.ids.shape[1], device=batch.ids.device)
        ends = batch.real.sum(dim=1, keepdim=True) - len(self.after)
        return (position >= len(self.before)) & (position < ends)


def encode_sentences(
    tokenizer: PreTrainedTokenizerBase, sentences: Sequence[str], max_length: int, frame: Frame | None = None
) -> tuple[Pieces, NDArray[np.int64]]:
    """Encode whole sentences; one longer than `max_length` pieces becomes several sequences, so that none is cut.

    `frame` is around each; None: the tokenizer's.

    Returns:
        The sequences, and [sequences]: of each the index of its sentence.
    """
    frame = Frame.of(tokenizer) if frame is None else frame
    room = max_length - len(frame)
    bare = {"add_special_tokens": False, "return_attention_mask": False, "return_token_type_ids": False}
    encoded = tokenizer(list(sentences), **bare, verbose=False)["input_ids"] if sentences else []
    sequences, owners = [], []
    for owner, pieces in enumerate(encoded):
        for start in range(0, max(len(pieces), 1), room):
            sequences.append(frame.around(pieces[start : start + room]))
            owners.append(owner)
    return Pieces.of(sequences, tokenizer.pad_token_id), np.asarray(owners, dtype=np.int64)
