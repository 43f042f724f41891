"""Which words of parallel sentences are translations of each other: read from a file, or learnt from the words alone.

What is learnt is IBM model 1 (Brown et al., 1993, section 4.1) in both directions. No encoder has a part in it, so that
no layer of one is favoured.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ROUNDS = 5
"""Of expectation and maximisation."""
SURE = 0.5
"""A link is kept where it is likelier than all others of the word together, in both directions."""

WordPair = tuple[Sequence[str], Sequence[str]]
"""A sentence and its translation, as words."""
Links = list[tuple[int, int]]
"""Pairs of words of a sentence and of its translation, counted from 0."""


def align_words(sentences: Sequence[WordPair]) -> list[Links]:
    """For each sentence pair, the words that most likely translate each other, by IBM model 1 both ways.

    Case does not count. A word has one link at most; the model knows nothing of places, so that a word that comes
    twice in a sentence has none where its translation does.

    Args:
        sentences: all that is learnt from; a thousand make a start, and more are better.
    """
    forward = translation_posteriors(sentences)
    backward = translation_posteriors([(second, first) for first, second in sentences])
    both = (np.minimum(one, other.T) for one, other in zip(forward, backward, strict=True))
    return [[(int(i), int(j)) for j, i in np.argwhere(sure > SURE)] for sure in both]


def translation_posteriors(sentences: Sequence[WordPair]) -> list[NDArray[np.float64]]:
    """Of each sentence pair [second's words, first's words]: how likely the second's word translates the first's.

    Rows sum to 1 with what is left for no word of the first (the empty word of the model).
    """
    numbers: dict[str, int] = {}
    pairs = [tuple(_numbered(side, numbers) for side in pair) for pair in sentences]
    shapes = [(len(second), 1 + len(first)) for first, second in pairs]
    # Every word of the second with the empty word, 0, and with each of the first; all sentences in one row.
    given = np.concatenate([np.tile(np.append(0, first), len(second)) for first, second in pairs])
    other = np.concatenate([np.repeat(second, 1 + len(first)) for first, second in pairs])
    word = np.repeat(np.arange(sum(rows for rows, _ in shapes)), [width for rows, width in shapes for _ in range(rows)])
    codes, entries = np.unique(given * (1 + len(numbers)) + other, return_inverse=True)
    shares = _expected(entries, codes // (1 + len(numbers)), word)
    parts = np.split(shares, np.cumsum([rows * width for rows, width in shapes])[:-1])
    return [part.reshape(shape)[:, 1:] for part, shape in zip(parts, shapes, strict=True)]


def _numbered(words: Sequence[str], numbers: dict[str, int]) -> NDArray[np.int64]:
    return np.array([numbers.setdefault(word.casefold(), 1 + len(numbers)) for word in words], dtype=np.int64)


def _expected(entries: NDArray[np.int64], givens: NDArray[np.int64], word: NDArray[np.int64]) -> NDArray[np.float64]:
    """How likely each candidate is: `entries` and `word` say whose it is, `givens` what the entries translate."""
    likelihoods = np.ones(len(givens))
    for _ in range(ROUNDS):
        shares = _normalised(likelihoods[entries], word)
        counts: NDArray[np.float64] = np.bincount(entries, shares, len(givens)).astype(np.float64)
        likelihoods = _normalised(counts, givens)
    return _normalised(likelihoods[entries], word)


def _normalised(values: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values over the sums of their groups."""
    shares: NDArray[np.float64] = values / np.bincount(groups, values)[groups]
    return shares
