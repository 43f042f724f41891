"""What a difference between two models says of others: tuned with other seeds, scored on other sentences.

A score is a ratio of two sums over sentences (right words and words, say), its mean over seeds. Seeds and sentences
are crossed: every model, one a seed, is scored on the same sentences. The variance of a mean over both is estimated
from the two-way table of each sentence's share in each seed's score, and the degrees of freedom by Satterthwaite
(1946), as for a quasi-F test with two random factors (Clark 1973; Barr et al. 2013).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Table = NDArray[np.float64]
"""[seeds, sentences]: what each sentence adds to each seed's score, times the number of sentences."""

ROUNDING = 1e-12
FEWEST_SEEDS = 3
"""With two, one degree of freedom is left to tell how seeds vary: an interval would be far too wide or wrong."""


class Variance(NamedTuple):
    """Of a mean over seeds and sentences."""

    of_mean: float
    freedom: float
    """Degrees of freedom of the estimate."""


def contributions(numerators: ArrayLike, denominators: ArrayLike) -> Table:
    """The influence of each sentence on each seed's ratio of sums; a seed's mean over sentences is its ratio.

    Args:
        numerators: [seeds, sentences], such as the words that are right.
        denominators: [seeds, sentences], such as all words.

    Raises:
        ValueError: the shapes differ, or a seed has nothing below the line.
    """
    above, below = (np.asarray(side, dtype=np.float64) for side in (numerators, denominators))
    if above.shape != below.shape or above.ndim != 2 or not above.size or not below.sum(axis=1).all():
        raise ValueError(f"needs [seeds, sentences] with something to count: {above.shape} and {below.shape}")
    total = below.sum(axis=1, keepdims=True)
    ratio = above.sum(axis=1, keepdims=True) / total
    return ratio + above.shape[1] * (above - ratio * below) / total


def crossed_variance(table: Table) -> Variance:
    """Of the mean of a two-way table whose rows (seeds) and columns (sentences) are both drawn by chance.

    With one seed, of sentences alone. Raises ValueError for fewer than two sentences.
    """
    seeds, sentences = table.shape
    if sentences < 2:
        raise ValueError("the spread over sentences needs two of them or more")
    by_sentence = table.mean(axis=0).var(ddof=1) / sentences
    if seeds == 1:
        return Variance(float(by_sentence), sentences - 1)
    by_seed = table.mean(axis=1).var(ddof=1) / seeds
    left = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    # What neither explains is in both of the others: counted once too often in their sum.
    twice = (left**2).sum() / ((seeds - 1) * (sentences - 1)) / (seeds * sentences)
    total = max(by_seed + by_sentence - twice, by_seed, by_sentence)
    if not total:
        return Variance(0.0, 1.0)
    shares = (by_seed / total) ** 2 / (seeds - 1) + (by_sentence / total) ** 2 / (sentences - 1)
    freedom = 1 / shares
    if seeds < 5:  # a spread over so few seeds is often far too small by chance
        freedom = max(1.0, freedom * (seeds - 1) / (seeds + 1))
    return Variance(float(total), float(freedom))


class Effect(NamedTuple):
    """How much higher one mean score is than another, and what chance leaves open."""

    mean: float
    low: float | None
    """The ends of the interval; None where there are too few seeds to say, or where nothing varies."""
    high: float | None
    p: float | None
    """Two-sided, of no difference."""
    error: float | None
    """Standard error."""
    freedom: float
    seeds: int
    sentences: int

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None


def effect(table: Table, *, confidence: float = 0.95) -> Effect:
    """The mean of a table of differences with its interval and p-value.

    One seed, or two, have neither: they say too little of how models differ from seed to seed.
    """
    seeds, sentences = table.shape
    mean, size = float(table.mean()), float(np.abs(table).max())
    variance = crossed_variance(table)
    error = math.sqrt(variance.of_mean)
    if seeds < FEWEST_SEEDS or error <= ROUNDING * size:
        return Effect(mean, None, None, None, None, variance.freedom, seeds, sentences)
    from scipy.special import stdtr, stdtrit

    reach = float(stdtrit(variance.freedom, (1 + confidence) / 2)) * error
    p = 2 * float(stdtr(variance.freedom, -abs(mean) / error))
    return Effect(mean, mean - reach, mean + reach, p, error, variance.freedom, seeds, sentences)


def over_places(tables: Sequence[Table]) -> Table:
    """The table of the mean over places (languages, data sets), each of its own sentences.

    Sentences of one number are taken together, since they may be translations of each other; where they are not, that
    changes nothing but chance.
    """
    longest = max(table.shape[1] for table in tables)
    joined = np.zeros((tables[0].shape[0], longest))
    for table in tables:
        mean, sentences = table.mean(axis=1, keepdims=True), table.shape[1]
        joined += mean
        joined[:, :sentences] += (table - mean) * (longest / sentences)
    return joined / len(tables)


def equivalence(difference: Effect, margin: float) -> float | None:
    """The p-value of two one-sided tests: that the difference is `margin` or more, up or down (Schuirmann 1987)."""
    if difference.error is None:
        return None
    from scipy.special import stdtr

    return max(
        float(stdtr(difference.freedom, (side * difference.mean - margin) / difference.error)) for side in (1, -1)
    )


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """p-values adjusted so that the chance of any false claim in the family keeps its bound (Holm 1979)."""
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, p_values[name] * (len(p_values) - rank)))
        adjusted[name] = largest
    return adjusted


def best_of(tables: Sequence[Table], *, draws: int = 20_000, seed: int = 0) -> list[float | None]:
    """p-values of several differences of which the best was picked: the chance of so large a t in any of them.

    The differences share sentences, seeds and perhaps what they are held against, so their t are correlated; the
    largest of correlated t is drawn (the max-t distribution, Westfall and Young 1993). None: cannot be said.
    """
    effects = [effect(table) for table in tables]
    if not all(each.known for each in effects):
        return [None] * len(effects)
    freedom = min(each.freedom for each in effects)
    generator = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(_correlations(tables))
    roots = vectors * np.sqrt(
        np.clip(values, 0, None)
    )  # estimated pair by pair, they need not be those of any variables
    normal = generator.standard_normal((draws, len(tables))) @ roots.T
    largest = np.abs(normal).max(axis=1) / np.sqrt(generator.chisquare(freedom, draws) / freedom)
    return [float((largest >= abs(each.mean) / (each.error or 1.0)).mean()) for each in effects]


def _correlations(tables: Sequence[Table]) -> NDArray[np.float64]:
    """[tables, tables]: of the means, as of sums and differences of tables."""
    count = len(tables)
    variances = [crossed_variance(table).of_mean for table in tables]
    correlations = np.eye(count)
    for i in range(count):
        for j in range(i):
            scaled = tables[i] / math.sqrt(variances[i]), tables[j] / math.sqrt(variances[j])
            total, rest = (crossed_variance(scaled[0] + sign * scaled[1]).of_mean for sign in (1, -1))
            correlations[i, j] = correlations[j, i] = np.clip((total - rest) / 4, -1, 1)
    return correlations
