"""Align the words, or word pieces, of parallel sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from babelscope.corpora.alignment.layout import Block, lay_out, side_of
from babelscope.corpora.alignment.learning import Direction, agreed, learn
from babelscope.corpora.alignment.links import Links, SoftLinks, WordPair, hard_links

LIGHTEST = 0.02
"""Links of less weight are left out."""

Pair = tuple[Sequence[int], Sequence[int]]
"""A sentence and its translation, as types: an integer for each word or word piece, the same for the same word."""


def soft_links(pairs: Sequence[Pair]) -> SoftLinks:
    """Which words translate each other, weighted: how sure both directions are of a link, multiplied.

    The same pairs give the same links. A word may have links to several words, or none. Time and memory grow with the
    product of a pair's lengths.

    Args:
        pairs: all that is learnt from; a few hundred make a start, and more are better. Several languages may be
            joined, with types of their own.

    Raises:
        InputError: a side is empty, a pair too long to be of sentences, or words are not integers.
    """
    if not pairs:
        return SoftLinks.none()
    first, second = zip(*pairs, strict=True)
    layout = lay_out(side_of(first, "first"), side_of(second, "second"))
    directions = learn(layout)
    return SoftLinks.joined([_links(block, *directions) for block in layout.blocks])


def align(pairs: Sequence[Pair]) -> list[Links]:
    """For each pair, the words that most likely translate each other: of `soft_links`, the heaviest of both words.

    A word has one link at most. Args and errors are those of `soft_links`.
    """
    return hard_links(soft_links(pairs), len(pairs))


def align_words(sentences: Sequence[WordPair]) -> list[Links]:
    """`align` of words as they are written; case does not count, and a sentence without words has no links."""
    numbers: dict[str, int] = {}
    whole = [k for k, pair in enumerate(sentences) if all(pair)]
    links: list[Links] = [[] for _ in sentences]
    learnt = align([(_numbered(sentences[k][0], numbers), _numbered(sentences[k][1], numbers)) for k in whole])
    for k, own in zip(whole, learnt, strict=True):
        links[k] = own
    return links


def _links(block: Block, there: Direction, back: Direction) -> SoftLinks:
    weights, _, _ = agreed(block, there, back)
    pair, source, target = np.nonzero(weights > LIGHTEST)
    return SoftLinks(block.pairs[pair], source, target, weights[pair, source, target])


def _numbered(words: Sequence[str], numbers: dict[str, int]) -> list[int]:
    return [numbers.setdefault(word.casefold(), len(numbers)) for word in words]
