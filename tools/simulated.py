"""Systems whose answers are simulated, so that the truth is known: right or wrong, by seed and sentence.

An answer depends on how hard the sentence is, on what the system finds hard, on the seed, and on chance; the parts are
set so that two seeds of a system agree on a given share of the sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from babelscope.core.inference import Table

OF_SYSTEM = 0.2
"""Share of what sentences decide that is a system's own: what one finds hard, the other need not."""


class Setting(NamedTuple):
    """What the systems of a simulation are like, and how they are scored."""

    seeds: int
    sentences: int
    agreement: float = 0.8
    """Share of the sentences that two seeds of a system agree on."""
    accuracy: float = 0.8
    seed_sd: float = 0.05
    """Of a seed's mean, in standard deviations of the normal that decides an answer."""

    @property
    def seed_points(self) -> float:
        """Of a seed's mean, in points of accuracy: 1.4 where nothing else is said."""
        return 100 * self.seed_sd * float(norm.pdf(norm.ppf(self.accuracy)))


def answers(generator: np.random.Generator, setting: Setting, gains: Sequence[float]) -> NDArray[np.float64]:
    """[systems, seeds, sentences]: 1 for right. `gains` are how much more accurate each system is, in shares."""
    ease = eases(generator, setting, len(gains))
    chance = generator.standard_normal(ease.shape) * math.sqrt(1 - shared_of(setting.agreement, setting.accuracy))
    return (ease + chance + thresholds(setting, gains) > 0).astype(np.float64)


def eases(generator: np.random.Generator, setting: Setting, systems: int) -> NDArray[np.float64]:
    """[systems, seeds, sentences]: the parts of an answer that are not chance, the system's accuracy left out."""
    seeds, sentences = setting[:2]
    shared = shared_of(setting.agreement, setting.accuracy)
    hard = generator.standard_normal((1, 1, sentences)) * math.sqrt(shared * (1 - OF_SYSTEM))
    own = generator.standard_normal((systems, 1, sentences)) * math.sqrt(shared * OF_SYSTEM)
    seed = generator.standard_normal((systems, seeds, 1)) * setting.seed_sd
    return hard + own + seed


def thresholds(setting: Setting, gains: Sequence[float]) -> NDArray[np.float64]:
    """[systems, 1, 1]: what is added to the parts of an answer, for systems to be as accurate as they are."""
    accuracies = setting.accuracy + np.asarray(gains)
    return (norm.ppf(accuracies) * math.sqrt(1 + setting.seed_sd**2))[:, None, None]


@cache
def shared_of(agreement: float, accuracy: float) -> float:
    """Correlation of two seeds' latent answers at which they agree so often."""
    edge = float(norm.ppf(accuracy))

    def agree(correlation: float) -> float:
        both = multivariate_normal.cdf([edge, edge], cov=[[1, correlation], [correlation, 1]])
        return float(1 - 2 * (accuracy - both))

    return float(brentq(lambda correlation: agree(correlation) - agreement, 1e-6, 1 - 1e-6))


def differences(setting: Setting, gain: float, replicates: int) -> Iterator[Table]:
    """Of pairs of systems, the first better by `gain`."""
    generator = np.random.default_rng(
        [setting.seeds, setting.sentences, round(100 * setting.agreement), round(1000 * gain)]
    )
    for _ in range(replicates):
        first, second = answers(generator, setting, [gain, 0.0])
        yield first - second


def share(count: int, of: int) -> str:
    """In percent with its 95% Monte-Carlo interval (Wilson 1927)."""
    if not of:
        return ""
    centre, spread = (count + 1.92) / (of + 3.84), 1.96 * math.sqrt(count * (of - count) / of + 0.96) / (of + 3.84)
    return f"{100 * count / of:.1f} [{100 * max(0, centre - spread):.1f}, {100 * min(1, centre + spread):.1f}]"


def mean_share(shares: Sequence[float]) -> str:
    """The mean of shares, one a replicate, in percent with its 95% Monte-Carlo interval."""
    mean, reach = np.mean(shares), 1.96 * np.std(shares, ddof=1) / math.sqrt(len(shares))
    return f"{100 * mean:.1f} [{100 * max(0, mean - reach):.1f}, {100 * min(1, mean + reach):.1f}]"
