"""Correlations along the last axis: of a set of numbers and of all its bootstrap resamples at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]


def pearson(predicted: Numbers, gold: Numbers) -> Numbers:
    """Pearson's correlation, -1 to 1; 0 where predictions or gold numbers are all the same."""
    import numpy as np

    constant = _constant(predicted) | _constant(gold)
    x, y = (numbers - numbers.mean(-1, dtype=np.float64, keepdims=True) for numbers in (predicted, gold))
    xy, xx, yy = (np.einsum("...i,...i->...", *two) for two in ((x, y), (x, x), (y, y)))
    spread = np.sqrt(xx) * np.sqrt(yy)
    constant |= spread == 0  # squares of the tiniest differences vanish
    return np.where(constant, 0.0, np.clip(xy / np.where(constant, 1, spread), -1, 1))


def spearman(predicted: Numbers, gold: Numbers) -> Numbers:
    """Spearman's correlation: Pearson's of the ranks, where equal numbers share the mean of their ranks."""
    return pearson(_ranks(predicted), _ranks(gold))


def _constant(numbers: Numbers) -> Numbers:
    """[...]: whether all numbers are the same; compared, as their variance need not come out as 0."""
    return numbers.max(-1) == numbers.min(-1)


def _ranks(numbers: Numbers) -> Numbers:
    """[..., n]: ranks from 1 along the last axis, equal numbers sharing the mean of theirs; by counting."""
    import numpy as np

    coded = numbers.dtype.kind == "i" and numbers.min() >= 0 and numbers.max() < numbers.shape[-1]
    codes = numbers if coded else codes_of(numbers)
    rows = codes.reshape(-1, codes.shape[-1])
    width = int(rows.max()) + 1
    places = rows + width * np.arange(len(rows))[:, None]
    counts = np.bincount(places.ravel(), minlength=len(rows) * width).reshape(len(rows), width)
    # Of `count` equal numbers that end at `last`, the mean rank is last - (count - 1) / 2.
    means = counts.cumsum(axis=1) - (counts - 1) / 2
    return means.ravel()[places].reshape(numbers.shape)


def codes_of(numbers: Numbers) -> Numbers:
    """The same order in whole numbers from 0."""
    import numpy as np

    return np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape)
