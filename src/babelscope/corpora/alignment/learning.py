"""What translates what, learnt by expectation and maximisation: each direction alone, then both so that they agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from babelscope.corpora.alignment.layout import Block, Layout
from babelscope.corpora.alignment.links import Integers
from babelscope.corpora.alignment.posteriors import Floats, first_jumps, in_a_chain, in_any_order

ROUNDS_ALONE = 2
"""Of model 1, for either direction by itself. Without them languages of other word orders are aligned badly."""
ROUNDS_TOGETHER = 4
"""Of the hidden Markov model, in which a link counts as much as both directions together think of it (Liang et al.,
2006)."""
ALPHA = 0.1
"""Of the Dirichlet prior on a word's translations: variational Bayes has few of them likely (Johnson, 2007)."""
UNSEEN_JUMPS = 0.5
"""Jumps of each length that are added to those seen."""


class Direction(NamedTuple):
    """With what probability a word of one side makes a word of the other."""

    words: Floats
    """[entries] of a layout: the type of the one making that of the other; 0 of entry 0."""
    empty: Floats
    """[1 + types]: no word making a word of each type; the last is 1, for what is behind an end."""
    jumps: Floats
    """[1 + 2 * REACH]: weights of how far a maker is from the maker of the word before."""

    def alone(self, block: Block) -> Floats:
        """[pairs, m, n]: the posterior probabilities of links by model 1."""
        return in_any_order(self.words[block.entries], self.empty[block.made], block.lengths)

    def in_chain(self, block: Block) -> tuple[Floats, Floats]:
        """Those by the hidden Markov model, and the jumps that are expected."""
        return in_a_chain(self.words[block.entries], self.empty[block.made], block.lengths, self.jumps)


def learn(layout: Layout) -> tuple[Direction, Direction]:
    """The second sides from the first, and the first from the second."""
    there, back = _learn_alone(layout), _learn_alone(layout.turned)
    for _ in range(ROUNDS_TOGETHER):
        there, back = _learn_together(layout, there, back)
    return there, back


def agreed(block: Block, there: Direction, back: Direction) -> tuple[Floats, Floats, Floats]:
    """[pairs, m, n]: the products of both directions' posteriors; and the jumps that either expects."""
    posteriors, jumps = there.in_chain(block)
    others, other_jumps = back.in_chain(block.turned)
    return posteriors * others.swapaxes(1, 2), jumps, other_jumps


def _learn_alone(layout: Layout) -> Direction:
    entries, types = len(layout.types[0]) - 1, layout.counts[1]
    direction = Direction(*_padded(np.ones(entries), np.ones(types)), first_jumps())
    for _ in range(ROUNDS_ALONE):
        words, empty = _nothing(direction)
        for block in layout.blocks:
            _add(block, direction.alone(block), words, empty)
        direction = _direction(words, empty, direction.jumps, layout.types[0])
    return direction


def _learn_together(layout: Layout, there: Direction, back: Direction) -> tuple[Direction, Direction]:
    words, empty = _nothing(there)
    _, back_empty = _nothing(back)
    jumps, back_jumps = np.full((2, len(there.jumps)), UNSEEN_JUMPS)
    for block in layout.blocks:
        links, steps, back_steps = agreed(block, there, back)
        _add(block, links, words, empty)
        _add_empty(block.turned, links.swapaxes(1, 2), back_empty)
        jumps += steps
        back_jumps += back_steps
    forward = _direction(words, empty, jumps, layout.types[0])
    return forward, _direction(words, back_empty, back_jumps, layout.types[1])


def _nothing(direction: Direction) -> tuple[Floats, Floats]:
    return np.zeros_like(direction.words), np.zeros_like(direction.empty)


def _add(block: Block, links: Floats, words: Floats, empty: Floats) -> None:
    """Count links by entry, and what is left of each word for no word by type."""
    np.add.at(words, block.entries.ravel().astype(np.intp), links.ravel())
    _add_empty(block, links, empty)


def _add_empty(block: Block, links: Floats, empty: Floats) -> None:
    np.add.at(empty, block.made.ravel(), np.maximum(1 - links.sum(axis=1), 0).ravel())


def _direction(words: Floats, empty: Floats, jumps: Floats, givens: Integers) -> Direction:
    """From counts; `givens` are the types that the entries are translations of."""
    same_group = np.zeros(len(empty) - 1, dtype=np.int64)
    return Direction(*_padded(_expected(words[1:], givens[1:]), _expected(empty[:-1], same_group)), jumps)


def _padded(words: Floats, empty: Floats) -> tuple[Floats, Floats]:
    """With the probabilities of what is behind an end."""
    return np.append(0, words), np.append(empty, 1)


def _expected(counts: Floats, groups: Integers) -> Floats:
    """The counts' shares of their groups, as variational Bayes weighs them."""
    from scipy.special import digamma

    counts = counts + ALPHA
    shares: Floats = np.exp(digamma(counts) - digamma(np.bincount(groups, counts))[groups])
    return shares
