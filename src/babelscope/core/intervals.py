"""Intervals of single numbers: Student's t over seeds, BCa bootstrap over sentences, ratios, rank correlations.

Those of differences between models are in `inference`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from babelscope.core.correlation import spearman

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

BATCH = 100
"""Resamples computed at once. It bounds memory and, staying in the cache, is five times as fast as all at once."""

CONFIDENCE = 0.95
"""Of every interval that is shown."""

LARGEST = 700.0
"""A logarithm beyond which no number is shown: exp(700) stands for all above it."""

ROUNDING = 1e-12
"""What differs by no more than this share of the numbers it was computed from differs by rounding alone."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate from `n` values and its confidence interval.

    `low` and `high` are None where the data do not determine them (one value, or all equal), and so is `sd` of one
    value. All are in the unit of the values; `sd` of a geometric mean is a factor.
    """

    mean: float
    low: float | None
    high: float | None
    sd: float | None
    n: int

    @property
    def sign(self) -> int:
        """1 or -1 where the whole interval is known and lies above or below zero; else 0."""
        if self.low is None or self.high is None:
            return 0
        return (self.low > 0) - (self.high < 0)

    @property
    def negative(self) -> Interval:
        """Of the values with their signs turned."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Interval(-self.mean, low, high, self.sd, self.n)

    @property
    def exponential(self) -> Interval:
        """Of logarithms, taken back: a mean becomes a geometric one, a difference a ratio, `sd` a factor.

        A bound beyond all numbers is infinite.
        """
        with np.errstate(over="ignore"):
            low, high, sd = (None if end is None else float(np.exp(end)) for end in (self.low, self.high, self.sd))
        return Interval(exponential(self.mean), low, high, sd, self.n)


def exponential(logarithm: float) -> float:
    """The number of a logarithm, such as the perplexity of a loss per token (nats); at most exp(700)."""
    return math.exp(min(logarithm, LARGEST))


def student_t_interval(values: Sequence[float], *, confidence: float = CONFIDENCE) -> Interval:
    """Mean of independent values (one a seed) with Student's t interval: mean ± t(n-1) · sd / √n.

    One value has no interval, and several that are all equal have none: of how they vary they say nothing. Raises
    ValueError without values.
    """
    if not len(values):
        raise ValueError("an interval needs at least one value")
    numbers = np.asarray(values, dtype=np.float64)
    mean, n = float(numbers.mean()), len(numbers)
    if n == 1:
        return Interval(mean, None, None, None, 1)
    if np.ptp(numbers) <= ROUNDING * np.abs(numbers).max():
        return Interval(mean, None, None, 0.0, n)
    sd = float(numbers.std(ddof=1))
    reach = t_reach(sd / math.sqrt(n), n - 1, confidence)
    return Interval(mean, mean - reach, mean + reach, sd, n)


def t_reach(error: float, freedom: float, confidence: float = CONFIDENCE) -> float:
    """How far the interval of a mean goes to each side: its standard error times Student's t."""
    from scipy.special import stdtrit  # far quicker to import than scipy.stats

    return float(stdtrit(freedom, (1 + confidence) / 2)) * error


def t_p_value(mean: float, error: float, freedom: float) -> float:
    """The two-sided p-value of a mean with such a standard error, by Student's t."""
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -abs(mean) / error))


def geometric_interval(values: Sequence[float], *, confidence: float = CONFIDENCE) -> Interval:
    """Geometric mean of positive values (perplexities) and Student's t interval of their logarithms, taken back.

    It is lopsided and stays above zero; `sd` is a factor. Raises ValueError without values or for one that is not
    positive.
    """
    if not all(value > 0 for value in values):
        raise ValueError(f"a geometric mean is of positive values, not {min(values)}")
    if len(values) == 1:  # itself, to the last digit
        return student_t_interval(values)
    logarithms = np.log(np.asarray(values, dtype=np.float64)).tolist()
    return student_t_interval(logarithms, confidence=confidence).exponential


def ratio_interval(a: Mapping[int, float], b: Mapping[int, float]) -> Interval:
    """Mean of `a` over mean of `b`, paired by the seeds that both have, with Fieller's interval (1954).

    It holds the ratios r for which a - r b may well have the mean 0, by the paired t test. Where b's own mean may well
    be 0 these have no bound, and `low` and `high` are None, as they are for one seed; `sd` always is. Raises ValueError
    without shared seeds, or where the mean of `b` is 0.
    """
    shared = sorted(a.keys() & b.keys())
    x, y = (np.asarray([side[seed] for seed in shared], dtype=np.float64) for side in (a, b))
    if not shared or not y.mean():
        raise ValueError("a ratio needs seeds that both sides have, and a mean to divide by that is not 0")
    ratio, n = float(x.mean() / y.mean()), len(shared)
    unknown = Interval(ratio, None, None, None, n)
    if n == 1 or np.ptp(x - ratio * y) <= ROUNDING * np.abs(x).max():
        return unknown
    spread = t_reach(1.0, n - 1) ** 2 * np.cov(x, y) / n
    # The ratios r with (mean(a) - r mean(b))^2 <= t^2 var(a - r b) / n lie between the roots of a square.
    square, middle, rest = (
        y.mean() ** 2 - spread[1, 1],
        x.mean() * y.mean() - spread[0, 1],
        x.mean() ** 2 - spread[0, 0],
    )
    if square <= 0:
        return unknown
    reach = math.sqrt(max(0.0, middle**2 - square * rest))
    return Interval(ratio, float((middle - reach) / square), float((middle + reach) / square), None, n)


def spearman_interval(a: Sequence[float], b: Sequence[float], *, resamples: int = 1000) -> Interval:
    """Spearman's rank correlation of pairs with its BCa bootstrap interval; 0 in resamples that leave it undefined.

    Raises ValueError for unequal numbers of values, fewer than two pairs, or a side whose values are all the same.
    """
    return paired_interval(spearman, *_ranked(a, b), resamples=resamples)


def spearman_p_value(a: Sequence[float], b: Sequence[float], *, resamples: int = 50_000) -> float:
    """The two-sided p-value of no rank correlation, by exchanging the values of one side.

    All orders are tried of eight pairs or fewer, else so many at random. Raises ValueError as `spearman_interval` does.
    """
    x, y = _ranked(a, b)
    from scipy.stats import permutation_test

    tested = permutation_test(
        (x,), lambda x, axis=-1: spearman(x, np.broadcast_to(y, x.shape)), permutation_type="pairings",
        vectorized=True, n_resamples=resamples, batch=1000, random_state=np.random.default_rng(0),
    )  # fmt: skip
    return float(tested.pvalue)


def _ranked(a: Sequence[float], b: Sequence[float]) -> tuple[NDArray[Any], NDArray[Any]]:
    x, y = (np.asarray(side, dtype=np.float64) for side in (a, b))
    if len(x) != len(y) or len(x) < 2 or not np.ptp(x) or not np.ptp(y):
        raise ValueError(f"a rank correlation needs values that differ, as many on both sides: {a} and {b}")
    return x, y


def bca_interval(correct: ArrayLike, total: ArrayLike, *, resamples: int = 2000, seed: int = 0) -> Interval:
    """sum(correct) / sum(total) with its BCa bootstrap interval over sentences (Efron 1987).

    `correct` and `total` count words, one entry a sentence; sentences are what is sampled, so they are what is
    drawn again. `mean` is the ratio over all words, `sd` the bootstrap's standard error, `n` the number of
    sentences. What is counted may also be entities, and then sentences without any are left out: they say nothing
    of the ratio. Where resampling cannot change the ratio (one sentence, all words right, all words wrong) nothing
    is known of its uncertainty and `low`, `high` and `sd` are None. Raises ValueError for empty or odd counts.
    """
    right, words = _counts(correct, total)
    ratio = float(right.sum() / words.sum())
    if len(words) == 1 or np.all(right * words[0] == right[0] * words):
        return Interval(ratio, None, None, None, len(words))
    from scipy.stats import bootstrap  # takes a second to import

    def share(c: NDArray[Any], w: NDArray[Any], axis: int = -1) -> NDArray[Any]:
        return c.sum(axis) / w.sum(axis)

    resampled = bootstrap(  # its `rng` is called so from scipy 1.15 on
        (right, words), share, paired=True, vectorized=True, n_resamples=resamples, batch=BATCH,
        confidence_level=CONFIDENCE, method="BCa", random_state=np.random.default_rng(seed),
    )  # fmt: skip
    low, high = (float(bound) for bound in resampled.confidence_interval)
    return Interval(ratio, low, high, float(resampled.standard_error), len(words))


def paired_interval(
    statistic: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]], a: NDArray[Any], b: NDArray[Any], *,
    resamples: int = 1000,
) -> Interval:  # fmt: skip
    """A statistic of pairs, such as a correlation of predicted with gold numbers, with its BCa bootstrap interval.

    `statistic` takes two arrays of equal shape [..., pairs], reduces the last axis, and is finite for all resamples.
    Where resampling does not change it, or there is one pair, `low`, `high` and `sd` are None. Raises ValueError
    without pairs or for unequal numbers of them.
    """
    if len(a) != len(b) or not len(a):
        raise ValueError(f"needs as many values on both sides, and some: {len(a)} and {len(b)}")
    value = float(statistic(a, b))
    if len(a) == 1:
        return Interval(value, None, None, None, 1)
    from scipy.stats import bootstrap

    with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):  # bounds that are NaN say it all
        resampled = bootstrap(
            (a, b), lambda x, y, axis=-1: statistic(x, y), paired=True, vectorized=True, n_resamples=resamples,
            batch=BATCH, confidence_level=CONFIDENCE, method="BCa", random_state=np.random.default_rng(0),
        )  # fmt: skip
    low, high = (float(bound) for bound in resampled.confidence_interval)
    if not high - low > ROUNDING * max(1.0, abs(value)):  # resamples of a perfect correlation differ by rounding
        return Interval(value, None, None, None, len(a))
    return Interval(value, low, high, float(resampled.standard_error), len(a))


def _counts(correct: ArrayLike, total: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """The counts of the sentences that have something to count."""
    right, words = np.asarray(correct, dtype=np.int64), np.asarray(total, dtype=np.int64)
    if len(right) != len(words) or not len(words):
        raise ValueError(f"needs as many counts of right words as of words, and some: {len(right)} and {len(words)}")
    if not words.any() or (right < 0).any() or (right > words).any():
        raise ValueError("needs at least one word, and in every sentence between none and all of them right")
    return right[words > 0], words[words > 0]
