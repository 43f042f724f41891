"""Sentence pairs as arrays: pairs of about the same lengths in blocks, and a number for any two types that meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from babelscope.core.errors import InputError
from babelscope.corpora.alignment.links import Integers

BLOCK = 1 << 18
"""Cells of a block, at most where it has two pairs or more: its arrays stay in the processor's cache."""
LARGEST = 1 << 20
"""Cells of a pair: its words, multiplied. A longer one is no sentence, and would take gigabytes."""
BATCH = 1 << 22
"""Cells that are numbered at once, about; it bounds memory."""


class Side(NamedTuple):
    """The first sentences of all pairs, or the second ones."""

    types: Integers
    """[words]: what each word is, of all sentences one after the other, numbered without gaps."""
    lengths: Integers
    """[pairs]."""
    distinct: int
    """How many types there are."""

    @property
    def starts(self) -> Integers:
        """[pairs]: where each sentence starts in `types`."""
        starts: Integers = np.cumsum(self.lengths) - self.lengths
        return starts

    def padded(self, pairs: Integers, width: int) -> Integers:
        """[pairs, width]: the types of some sentences; behind their ends stands `distinct`."""
        offsets = np.arange(width)
        places = np.where(offsets < self.lengths[pairs, None], self.starts[pairs, None] + offsets, len(self.types))
        return np.append(self.types, self.distinct)[places]


class Block(NamedTuple):
    """Sentence pairs of about the same lengths: m and n, the longest ones."""

    pairs: Integers
    """[pairs]: which they are."""
    given: Integers
    """[pairs, m]: the types of the first sentences; behind an end, how many types there are."""
    made: Integers
    """[pairs, n]: those of the second."""
    lengths: tuple[Integers, Integers]
    """[pairs] of each side."""
    entries: Integers
    """[pairs, m, n]: the number that two types have together; 0 behind an end."""

    @property
    def turned(self) -> Block:
        """The sides change places."""
        return Block(self.pairs, self.made, self.given, self.lengths[::-1], self.entries.swapaxes(1, 2))


class Layout(NamedTuple):
    """All sentence pairs."""

    blocks: list[Block]
    types: tuple[Integers, Integers]
    """[entries] of each side: the types of every two that are in a pair together. Entry 0 is of none."""
    counts: tuple[int, int]
    """How many types each side has."""

    @property
    def turned(self) -> Layout:
        """The sides change places."""
        return Layout([block.turned for block in self.blocks], self.types[::-1], self.counts[::-1])


def side_of(sentences: Sequence[Sequence[int]], which: str) -> Side:
    """The sentences' words in a row.

    Raises:
        InputError: a sentence is empty, or its words are not integers.
    """
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    if empty := np.flatnonzero(lengths == 0).tolist():
        raise InputError(f"pair {1 + empty[0]}: the {which} sentence is empty; leave out pairs that lack a side")
    words = np.array(list(chain.from_iterable(sentences)))
    if words.dtype.kind not in "iu":
        raise InputError(f"the words of the {which} sentences are {words.dtype}; give an integer for each, its type")
    types, numbers = np.unique(words, return_inverse=True)
    return Side(numbers, lengths, len(types))


def lay_out(first: Side, second: Side) -> Layout:
    """The pairs in blocks; which pairs are in a block together changes results by rounding alone.

    Raises:
        InputError: a pair is too long to be a sentence and its translation.
    """
    largest = int(np.argmax(first.lengths * second.lengths))
    m, n = int(first.lengths[largest]), int(second.lengths[largest])
    if m * n > LARGEST:
        raise InputError(
            f"pair {1 + largest}: {m:,} words or pieces, and {n:,} in the translation, which multiplied are more than "
            f"{LARGEST:,}; give sentences: cut it where they end, or leave it out"
        )
    widths = (_rounded(first.lengths), _rounded(second.lengths))
    order = np.lexsort(widths[::-1])
    cells = (widths[0] * widths[1])[order]
    starts = np.empty_like(cells)
    starts[order] = np.cumsum(cells) - cells
    entries = np.zeros(cells.sum(), dtype=np.int32)
    types = _number(first, second, entries, starts, widths[1])
    blocks = [_block(first, second, pairs, widths, entries[starts[pairs[0]] :]) for pairs in _alike(order, widths)]
    return Layout(blocks, types, (first.distinct, second.distinct))


def _rounded(lengths: Integers) -> Integers:
    """Lengths from 9 on rounded up, by a quarter at most, so that there are fewer shapes."""
    steps = 1 << np.maximum(np.log2(lengths).astype(np.int64) - 2, 0)
    rounded: Integers = -(-lengths // steps) * steps
    return rounded


def _alike(order: Integers, widths: tuple[Integers, Integers]) -> Iterator[Integers]:
    """Pairs in `order`, by shape, and no more at once than make a block."""
    shapes = np.stack(widths, axis=1)[order]
    changes = 1 + np.flatnonzero(np.any(np.diff(shapes, axis=0), axis=1))
    for pairs in np.split(order, changes):
        size = max(1, BLOCK // int(widths[0][pairs[0]] * widths[1][pairs[0]]))
        yield from np.split(pairs, range(size, len(pairs), size))


def _block(first: Side, second: Side, pairs: Integers, widths: tuple[Integers, Integers], entries: Integers) -> Block:
    """A block of pairs of the same widths, whose cells `entries` begins with."""
    m, n = (int(width[pairs[0]]) for width in widths)
    sides = (first.padded(pairs, m), second.padded(pairs, n))
    lengths = (first.lengths[pairs], second.lengths[pairs])
    return Block(pairs, *sides, lengths, entries[: len(pairs) * m * n].reshape(-1, m, n))


def _number(
    first: Side, second: Side, entries: Integers, starts: Integers, widths: Integers
) -> tuple[Integers, Integers]:
    """Fill in the numbers of all cells, from 1 on, and say the types of each number.

    It goes by types of the first side, so that not all cells are sorted at once.

    Args:
        first: of its words each has a row of cells.
        second: of its words each has a column.
        entries: [cells], filled.
        starts: [pairs]: where the cells of each begin.
        widths: [pairs]: how many cells are in a row.
    """
    pair = np.repeat(np.arange(len(starts)), first.lengths)
    rows = starts[pair] + (np.arange(len(pair)) - first.starts[pair]) * widths[pair]
    order = np.argsort(first.types, kind="stable")
    codes = [np.zeros(1, dtype=np.int64)]
    count = 1
    for words in _whole_types(order, first.types[order], np.cumsum(second.lengths[pair[order]])):
        lengths = second.lengths[pair[words]]
        others = second.types[_ranges(second.starts[pair[words]], lengths)]
        own = np.repeat(first.types[words], lengths)
        batch, numbers = np.unique(own * second.distinct + others, return_inverse=True)
        entries[_ranges(rows[words], lengths)] = count + numbers
        codes.append(batch)
        count += len(batch)
    given, made = np.divmod(np.concatenate(codes), second.distinct)
    return given.astype(np.int32), made.astype(np.int32)


def _whole_types(order: Integers, types: Integers, cells: Integers) -> Iterator[Integers]:
    """`order` in parts of about `BATCH` cells, cut where the type changes; `cells` are counted up to each word."""
    ends = np.append(1 + np.flatnonzero(np.diff(types)), len(order))
    full = np.diff(cells[ends - 1] // BATCH) > 0
    yield from np.split(order, ends[:-1][full])


def _ranges(starts: Integers, lengths: Integers) -> Integers:
    """The integers from each start on, as many as its length says."""
    ends = np.cumsum(lengths)
    ranges: Integers = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
    return ranges
