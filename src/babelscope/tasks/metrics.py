"""How predicted classes and numbers compare with the gold ones: GLUE's measures (Wang et al., 2019).

Each measure takes predictions and gold values of equal shape [..., examples] and reduces the last axis, so that the
same code scores a test set and all its bootstrap resamples. Every measure is a finite number for any input: what a
constant prediction leaves undefined is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelscope.core.correlation import codes_of, pearson, spearman
from babelscope.core.errors import InputError
from babelscope.core.intervals import paired_interval
from babelscope.tasks.task import Score, ratio_score

Numbers = NDArray[Any]


def accuracy(predicted: Numbers, gold: Numbers) -> Numbers:
    """The share of examples with the gold class."""
    return (predicted == gold).mean(-1)


def f1(predicted: Numbers, gold: Numbers) -> Numbers:
    """F1 of class 1: 2 · hits / (predicted + gold ones); 0 where class 1 is neither predicted nor gold."""
    hits = ((predicted == 1) & (gold == 1)).sum(-1)
    ones = (predicted == 1).sum(-1) + (gold == 1).sum(-1)
    return 2 * hits / np.maximum(ones, 1)


def matthews(predicted: Numbers, gold: Numbers) -> Numbers:
    """Matthews correlation (1975) of two classes, -1 to 1; 0 where predicted or gold classes are all the same."""
    yes, truth = predicted == 1, gold == 1
    n = float(predicted.shape[-1])  # in floating point, as products of four counts leave the integers
    hits, a, b = (np.asarray(x.sum(-1), dtype=np.float64) for x in (yes & truth, yes, truth))
    square = a * (n - a) * b * (n - b)
    return np.where(square > 0, (hits * n - a * b) / np.sqrt(np.where(square > 0, square, 1)), 0.0)


def accuracy_f1(predicted: Numbers, gold: Numbers) -> Numbers:
    """GLUE's score of MRPC and QQP: the mean of accuracy and F1."""
    return (accuracy(predicted, gold) + f1(predicted, gold)) / 2


def pearson_spearman(predicted: Numbers, gold: Numbers) -> Numbers:
    """GLUE's score of STS-B: the mean of Pearson's and Spearman's correlations."""
    return (pearson(predicted, gold) + spearman(predicted, gold)) / 2


class Measure(NamedTuple):
    """A measure, what it is of, and its unit."""

    compute: Callable[[Numbers, Numbers], Numbers]
    of: str
    unit: str = "share"


MEASURES = {
    "accuracy": Measure(accuracy, "classes"),
    "f1": Measure(f1, "two classes"),
    "accuracy_f1": Measure(accuracy_f1, "two classes"),
    "matthews": Measure(matthews, "two classes", "correlation"),
    "pearson": Measure(pearson, "numbers", "correlation"),
    "spearman": Measure(spearman, "numbers", "correlation"),
    "pearson_spearman": Measure(pearson_spearman, "numbers", "correlation"),
}
"""By name. More is better in all."""


def measure_of(name: str, classes: int) -> Measure:
    """The measure of that name, for a task of so many classes (0: numbers); InputError if it does not fit."""
    kinds = {0: ("numbers",), 2: ("classes", "two classes")}.get(classes, ("classes",))
    fitting = [name for name, measure in MEASURES.items() if measure.of in kinds]
    if name not in fitting:
        what = f"{classes} classes" if classes else "numbers"
        raise InputError(f"measure {name!r} does not score {what}; these do: {', '.join(fitting)}")
    return MEASURES[name]


def score(name: str, predicted: ArrayLike, gold: ArrayLike) -> Score:
    """A measure of predictions (class numbers, or numbers) with its BCa bootstrap interval over examples."""
    x, y = np.asarray(predicted), np.asarray(gold)
    if name == "accuracy":
        return ratio_score(name, x == y, np.ones(len(x)))
    if name == "spearman":  # order is all that counts, and whole numbers need no sorting in each resample
        x, y = codes_of(x), codes_of(y)
    found = paired_interval(MEASURES[name].compute, x, y)
    return Score(name, found.mean, MEASURES[name].unit, found.low, found.high)
