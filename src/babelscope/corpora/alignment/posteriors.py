"""How likely each word of a sentence is to have made each word of the other: in any order, and as a Markov chain.

A word of the second sentence is made by one of the first, or by none, which has the probability `EMPTY`. In model 1 of
Brown et al. (1993) all words of the first are equally likely before the word is seen. In the hidden Markov model of
Vogel et al. (1996) it depends on how far a word is from the maker of the word before; words that none has made are
passed over (Och and Ney, 2003).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babelscope.corpora.alignment.links import Integers

EMPTY = 0.08
"""The probability that no word of the other sentence makes a word."""
REACH = 50
"""Words; longer jumps are as likely as those of this length."""

Floats = NDArray[np.float64]


def in_any_order(emissions: Floats, empty: Floats, lengths: tuple[Integers, Integers]) -> Floats:
    """[pairs, m, n]: how likely each word of the first made each of the second, by model 1.

    Args:
        emissions: [pairs, m, n]: with what probability each word of the first, if it makes a word, makes this one; 0
            behind an end.
        empty: [pairs, n]: likewise of no word; anything above 0 behind an end.
        lengths: [pairs] of either side.
    """
    likelihoods = emissions * ((1 - EMPTY) / lengths[0])[:, None, None]
    likelihoods /= (likelihoods.sum(axis=1) + EMPTY * empty)[:, None]
    return likelihoods


def first_jumps() -> Floats:
    """[1 + 2 * REACH]: what is taken for the weights of jumps from -REACH to REACH words before any were seen."""
    jumps: Floats = np.exp(-np.abs(np.arange(-REACH, REACH + 1) - 1) / 2) + 1e-3
    return jumps


def in_a_chain(
    emissions: Floats, empty: Floats, lengths: tuple[Integers, Integers], jumps: Floats
) -> tuple[Floats, Floats]:
    """As `in_any_order`, by the hidden Markov model, and how often each jump is expected, [1 + 2 * REACH].

    A state is the last maker so far, or the place before the sentence, which comes first. What is behind an end has no
    effect: no word makes anything there, and what none makes leaves the state as it is.

    Args:
        emissions: as of `in_any_order`.
        empty: likewise.
        lengths: likewise.
        jumps: [1 + 2 * REACH], the weights of jumps from -REACH to REACH words.
    """
    m = emissions.shape[1]
    lengths_of_jumps = np.clip(np.arange(m) - np.arange(-1, m)[:, None], -REACH, REACH) + REACH
    weights = jumps[lengths_of_jumps]  # [1 + m, m]: from each state to each maker
    shares = (1 - EMPTY) / np.cumsum(weights, axis=1)[:, lengths[0] - 1].T  # [pairs, 1 + m]
    by_word = np.ascontiguousarray(emissions.transpose(2, 0, 1))
    by_none = np.ascontiguousarray(EMPTY * empty.T)[:, :, None]
    left, made = _forward(by_word, by_none, weights, shares)
    _backward(by_word, by_none, weights, shares, made)
    steps = weights * (left.reshape(-1, 1 + m).T @ by_word.reshape(-1, m))
    expected: Floats = np.bincount(lengths_of_jumps.ravel(), steps.ravel(), len(jumps)).astype(np.float64)
    return made.transpose(1, 2, 0), expected


def _forward(by_word: Floats, by_none: Floats, weights: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """The states before each word of the second, times `shares`; and which maker then makes the word.

    Each is given all words so far. `by_word` and `by_none` are divided by the probability of the word given those
    before it, so that nothing grows small.
    """
    n, pairs, m = by_word.shape
    left, made = np.empty((n, pairs, 1 + m)), np.empty_like(by_word)
    states = np.zeros((pairs, 1 + m))
    states[:, 0] = 1
    for j in range(n):
        np.multiply(states, shares, out=left[j])
        np.matmul(left[j], weights, out=made[j])
        made[j] *= by_word[j]
        states *= by_none[j]
        states[:, 1:] += made[j]
        likelihood = states.sum(axis=1, keepdims=True)
        for part in (states, made[j], by_word[j], by_none[j]):
            part /= likelihood
    return left, made


def _backward(by_word: Floats, by_none: Floats, weights: Floats, shares: Floats, made: Floats) -> None:
    """Make `made` posteriors given all words."""
    ahead = np.ones_like(shares)  # the probability of what follows by state, over that of what follows
    for j in reversed(range(len(made))):
        made[j] *= ahead[:, 1:]
        by_word[j] *= ahead[:, 1:]
        ahead *= by_none[j]
        ahead += (by_word[j] @ weights.T) * shares
