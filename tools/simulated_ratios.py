"""Systems whose scores are ratios of sums over sentences of unequal lengths: accuracy of words, F1, loss per token."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from simulated import Setting, eases, shared_of, thresholds

from babelscope.core.inference import Table, gains

ENTITIES, SPURIOUS = 1.0, 0.25
"""In a sentence, mean: those that there are, and what a system takes for one besides."""
LOSS = 2.0
"""Per token, mean."""
Numbers = NDArray[np.float64]
Counted = tuple[Numbers, Numbers]
"""[systems, seeds, sentences] above and below the line."""


class Score(NamedTuple):
    """A kind of score."""

    name: str
    counted: Callable[[np.random.Generator, Setting, float], Counted]
    """Of two systems, the first better by a gain."""
    difference: Callable[[float, float], float]
    """In the score, of systems with the accuracy and with so much more of it."""

    def differences(self, setting: Setting, gain: float, replicates: int) -> Iterator[Table]:
        """Of pairs of systems, the first better by `gain`."""
        generator = np.random.default_rng([setting.seeds, setting.sentences, round(1000 * gain)])
        for _ in range(replicates):
            first, second = np.stack(self.counted(generator, setting, gain), axis=1)
            yield gains(first, second)


def _words(generator: np.random.Generator, setting: Setting, gain: float) -> Counted:
    """Words that are right, and all words."""
    lengths = _lengths(generator, setting)
    right = generator.binomial(lengths, _chances(generator, setting, gain))
    return right.astype(float), np.broadcast_to(lengths, right.shape).astype(float)


def _entities(generator: np.random.Generator, setting: Setting, gain: float) -> Counted:
    """Twice the entities that are found, and those that there are and that are predicted: most sentences have few."""
    there = generator.poisson(ENTITIES, setting.sentences)
    found = generator.binomial(there, _chances(generator, setting, gain))
    return 2.0 * found, there + found + generator.poisson(SPURIOUS, found.shape).astype(float)


def _losses(generator: np.random.Generator, setting: Setting, gain: float) -> Counted:
    """The summed loss, which is to be high here as other scores are, and the tokens."""
    tokens = np.broadcast_to(_lengths(generator, setting), (2, setting.seeds, setting.sentences)).astype(float)
    ease = eases(generator, setting, 2) + np.array([gain, 0.0])[:, None, None]
    return tokens * (LOSS + ease) + np.sqrt(tokens) * generator.standard_normal(tokens.shape), tokens


def _lengths(generator: np.random.Generator, setting: Setting) -> NDArray[np.int64]:
    """[sentences]: 15 on average, with a standard deviation of 11."""
    return 1 + generator.negative_binomial(2, 0.125, setting.sentences)


def _chances(generator: np.random.Generator, setting: Setting, gain: float) -> Numbers:
    """[systems, seeds, sentences]: how often a word of a sentence is right."""
    latent = eases(generator, setting, 2) + thresholds(setting, [gain, 0.0])
    chances: Numbers = norm.cdf(latent / math.sqrt(1 - shared_of(setting.agreement, setting.accuracy)))
    return chances


def _f1(found: float) -> float:
    """Where so large a share of the entities is found."""
    return 2 * ENTITIES * found / (ENTITIES * (1 + found) + SPURIOUS)


SCORES = (
    Score("accuracy of words", _words, lambda accuracy, gain: gain),
    Score("F1 of entities", _entities, lambda accuracy, gain: _f1(accuracy + gain) - _f1(accuracy)),
    Score("loss per token", _losses, lambda accuracy, gain: gain),
)
