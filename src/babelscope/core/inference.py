"""What a difference between models says of others: tuned with other seeds, scored on other sentences and languages.

A score is a ratio of two sums over sentences (right words and words, say), its mean over seeds. Seeds and sentences
are crossed: every model, one a seed, is scored on the same sentences; and where a claim is about languages, these are
crossed with both. The variance of the mean is estimated from the table of each sentence's share in each score, and
the degrees of freedom by Satterthwaite (1946), as for a quasi-F test with several random factors (Clark 1973; Barr et
al. 2013). `make calibration` shows how often the intervals miss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelscope.core.intervals import ROUNDING, Interval, t_p_value, t_reach

Table = NDArray[np.float64]
"""[seeds, sentences]: what each sentence adds to each seed's score, times the number of sentences. With one column
nothing is known of sentences. Of several languages [seeds, sentences, languages]."""

FEWEST_SEEDS = 3
"""With two, one degree of freedom is left to tell how seeds vary: an interval would be far too wide or wrong."""
FEWEST_LANGUAGES = 3
FEW = 5
"""A spread over fewer seeds or languages than these is often far too small by chance."""


class Known(NamedTuple):
    """A table, and from how many languages and sentences its spread is known, where these are fewer than it has."""

    table: Table
    drawn: int | None = None
    """Of three axes: how many languages. Those that a task lacks fill up with the mean of the others."""
    sentences: int | None = None
    """Those of the shortest of several test sets, which fills up with its mean."""


class Variance(NamedTuple):
    """Of a mean over a table."""

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


def gains(first: ArrayLike, second: ArrayLike) -> Table:
    """[seeds, sentences]: how much each sentence adds to one side's ratio more than to the other's, seed by seed.

    Args:
        first: [2, seeds, sentences], what is summed above and below the line.
        second: the same of the other side.

    Raises:
        ValueError: the sides differ in seeds or sentences, or have nothing to count.
    """
    if np.shape(first) != np.shape(second):
        raise ValueError(f"needs the same seeds and sentences on both sides: {np.shape(first)} and {np.shape(second)}")
    ours, theirs = (contributions(*np.asarray(side, dtype=np.float64)) for side in (first, second))
    return ours - theirs


def crossed_variance(table: Table, drawn: int | None = None, sentences: int | None = None) -> Variance:
    """Of the mean of a table whose axes are all crossed and drawn by chance; those of length one are left out.

    With one axis it is that of Student's t. Raises ValueError for a table of one number.

    Args:
        table: two axes or three, of which the third is of languages.
        drawn: how many languages the spread over them is known from, where these are fewer than the table has.
        sentences: how many the spread over them is known from, where a test set has fewer than the table.
    """
    fewer = (None, sentences, drawn)[: table.ndim]
    lengths = [min(full, known or full) for full, known in zip(table.shape, fewer, strict=True) if full > 1]
    table = table.squeeze()
    if table.size < 2:
        raise ValueError("the spread of one number is not known: needs two seeds or sentences, or more")
    parts = _parts(table)
    single = {axes: part for axes, part in parts.items() if len(axes) == 1}
    # What several axes have in common is in the part of each: counted once too often in their sum.
    total = sum(part if len(axes) % 2 else -part for axes, part in parts.items())
    fewest = min(lengths)
    total = float(raised(total, max(single.values()), fewest))
    if not total:
        return Variance(0.0, 1.0)
    freedom = 1 / sum((part / total) ** 2 / (lengths[axis] - 1) for (axis, *_), part in single.items())
    if table.ndim > 1 and fewest < FEW:
        freedom = max(fewest - 1.0, freedom * (fewest - 1) / (fewest + 1))
    return Variance(total, float(freedom))


def raised(total: float | Table, least: float | Table, fewest: int) -> NDArray[np.float64]:
    """Variances of means over several axes; of an estimate below that over one of them alone, more.

    No mean over several axes varies less than over one of them, so that the truth is in between: half of the way up is
    taken, and all of it where the shortest axis has fewer than `FEW`.
    """
    below = least if fewest < FEW else (np.maximum(0.0, total) + least) / 2
    return np.where(np.less(total, least), below, total)


def _parts(table: Table) -> dict[tuple[int, ...], float]:
    """By axes, the mean square of what they explain together and not apart, over the size of the table."""
    left: dict[tuple[int, ...], Table] = {(): table.mean(keepdims=True)}
    parts = {}
    for count in range(1, table.ndim + 1):
        for axes in combinations(range(table.ndim), count):
            others = tuple(axis for axis in range(table.ndim) if axis not in axes)
            explained = table.mean(axis=others, keepdims=True)
            for fewer in range(count):
                explained = explained - sum(left[within] for within in combinations(axes, fewer))
            left[axes] = explained
            lengths = [table.shape[axis] for axis in axes]
            parts[axes] = float((explained**2).sum()) / math.prod(n - 1 for n in lengths) / math.prod(lengths)
    return parts


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
    """One: nothing is known of sentences."""
    languages: int = 1
    """Of a claim about languages: how many; one: it is about these sentences' language, or languages, alone."""

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None

    @property
    def interval(self) -> Interval:
        """The same, as an interval over so many seeds."""
        return Interval(self.mean, self.low, self.high, None, self.seeds)


def effect(
    table: Table, drawn: int | None = None, sentences: int | None = None, *, fewest_seeds: int = FEWEST_SEEDS
) -> Effect:
    """The mean of a table of differences with its interval and p-value; arguments as of `crossed_variance`.

    One seed, or two, have neither: they say too little of how models differ from seed to seed. The same goes for two
    languages.
    """
    seeds, columns, *rest = table.shape
    languages = math.prod(min(length, drawn or length) for length in rest)
    mean, size = float(table.mean()), float(np.abs(table).max())
    unknown = Effect(mean, None, None, None, None, 0.0, seeds, columns, languages)
    if seeds < fewest_seeds or (rest and languages < FEWEST_LANGUAGES) or table.size < 2:
        return unknown
    variance = crossed_variance(table, drawn, sentences)
    error = math.sqrt(variance.of_mean)
    if error <= ROUNDING * max(1.0, size):  # scores are about 1, and differ by rounding
        return unknown
    reach = t_reach(error, variance.freedom)
    p = t_p_value(mean, error, variance.freedom)
    return Effect(mean, mean - reach, mean + reach, p, error, variance.freedom, seeds, columns, languages)


def by_language(tables: Sequence[Table]) -> Table:
    """[seeds, sentences, languages]: the tables of several languages or data sets, each of its own sentences.

    Sentences of one number stand together, since they may be translations of each other; where they are not, that
    changes nothing but chance. A language with fewer sentences than another fills up with its mean, its sentences
    weighted so that their mean and its variance stay.
    """
    longest = max(table.shape[1] for table in tables)
    if all(table.shape[1] == longest for table in tables):
        return np.stack(tables, axis=2)
    joined = np.empty((tables[0].shape[0], longest, len(tables)))
    for place, table in enumerate(tables):
        mean, sentences = table.mean(axis=1, keepdims=True), table.shape[1]
        joined[:, :, place] = mean
        joined[:, :sentences, place] += (table - mean) * weight_among(longest, sentences)
    return joined


def weight_among(count: int, own: int) -> float:
    """What deviations from a mean of so many numbers are weighted by among more, of which the others are that mean.

    The estimated variance of the mean, which is their sum of squares over count times count less one, stays.
    """
    return math.sqrt(count * (count - 1) / (own * (own - 1))) if own > 1 else 0.0


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


def benjamini_hochberg(p_values: Mapping[str, float]) -> dict[str, float]:
    """p-values adjusted so that of what a table claims, the share of false claims keeps its bound (1995)."""
    if not p_values:
        return {}
    from scipy.stats import false_discovery_control

    return dict(zip(p_values, false_discovery_control(list(p_values.values())).tolist(), strict=True))


def best_of(tables: Sequence[Known], *, draws: int = 20_000) -> list[float | None]:
    """p-values of several differences of which the best was picked: the chance of so large a t in any of them.

    The differences share sentences, seeds and perhaps what they are held against, so their t are correlated; the
    largest of correlated t is drawn (the max-t distribution, Westfall and Young 1993). None: cannot be said of this
    one, and the others are not held against it.

    Raises:
        ValueError: those of which something can be said are not of the same seeds, sentences and languages.
    """
    effects = [effect(*each) for each in tables]
    known = [place for place, each in enumerate(effects) if each.known]
    p_values = iter(_largest_of([effects[k] for k in known], [tables[k] for k in known], draws) if known else ())
    return [next(p_values) if each.known else None for each in effects]


def _largest_of(effects: Sequence[Effect], tables: Sequence[Known], draws: int) -> list[float]:
    """The same, of effects that are all known."""
    if len({each.table.shape for each in tables}) > 1:
        raise ValueError(f"needs tables of one shape, not {', '.join(str(each.table.shape) for each in tables)}")
    freedom = min(each.freedom for each in effects)
    generator = np.random.default_rng(0)
    values, vectors = np.linalg.eigh(_correlations(tables))
    roots = vectors * np.sqrt(np.clip(values, 0, None))  # estimated pair by pair, they need not be of any variables
    normal = generator.standard_normal((draws, len(tables))) @ roots.T
    largest = np.abs(normal).max(axis=1) / np.sqrt(generator.chisquare(freedom, draws) / freedom)
    # The observed t is one of those that there could be, so that no p is 0.
    reached = [int((largest >= abs(each.mean) / (each.error or 1.0)).sum()) for each in effects]
    return [(count + 1) / (draws + 1) for count in reached]


def _correlations(known: Sequence[Known]) -> NDArray[np.float64]:
    """[tables, tables]: of the means, as of sums and differences of tables."""
    count, tables, fewer = len(known), [each.table for each in known], known[0][1:]  # they are of the same places
    variances = [crossed_variance(*each).of_mean for each in known]
    correlations = np.eye(count)
    for i in range(count):
        for j in range(i):
            scaled = tables[i] / math.sqrt(variances[i]), tables[j] / math.sqrt(variances[j])
            total, rest = (crossed_variance(scaled[0] + sign * scaled[1], *fewer).of_mean for sign in (1, -1))
            correlations[i, j] = correlations[j, i] = np.clip((total - rest) / 4, -1, 1)
    return correlations
