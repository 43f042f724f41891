"""Predicted classes and numbers of texts against the gold ones: which measures fit, and scores with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelscope.core.correlation import codes_of
from babelscope.core.errors import InputError
from babelscope.core.examples import SentencePair
from babelscope.core.intervals import BATCH, paired_interval
from babelscope.core.scores import MEASURES
from babelscope.tasks.task import Score, ratio_score


def computed(name: str, classes: int) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]:
    """What computes the measure of that name, for a task of so many classes (0: numbers).

    Raises:
        InputError: it does not fit; says which do.
    """
    kinds = {0: ("numbers",), 2: ("classes", "two classes")}.get(classes, ("classes",))
    fitting = {name: measure.compute for name, measure in MEASURES.items() if measure.of in kinds and measure.compute}
    if name not in fitting:
        what = f"{classes} classes" if classes else "numbers"
        raise InputError(f"measure {name!r} does not score {what}; these do: {', '.join(fitting)}")
    return fitting[name]


def score(name: str, predicted: ArrayLike, gold: ArrayLike) -> Score:
    """A measure of predictions (class numbers, or numbers) with its BCa bootstrap interval over examples.

    Raises:
        InputError: the measure is none of texts.
    """
    x, y = np.asarray(predicted), np.asarray(gold)
    if name == "accuracy":
        return ratio_score(name, x == y, np.ones(len(x)))
    compute = MEASURES[name].compute
    if compute is None:
        raise InputError(f"measure {name!r} does not score texts")
    if name == "spearman":  # order is all that counts, and whole numbers need no sorting in each resample
        x, y = codes_of(x), codes_of(y)
    interval = paired_interval(compute, x, y)
    added = tuple(influences(compute, x, y).tolist()) if len(x) > 1 else ()
    return Score(name, interval.mean, MEASURES[name].unit, interval.low, interval.high, added, (1.0,) * len(added))


def influences(compute: Callable[..., NDArray[Any]], x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """[texts]: what each text adds to a measure that is no ratio of sums; their mean is the measure.

    The pseudo-values of the jackknife (Tukey 1958), moved by one constant so that their mean is not corrected for
    bias. What leaving a text out does depends on its prediction and its gold value alone, so equal pairs share it.
    """
    count, whole = len(x), float(compute(x, y))
    _, firsts, kinds = np.unique(np.stack([x, y]), axis=1, return_index=True, return_inverse=True)
    parts = [compute(*_each_left_out(x, y, firsts[k : k + BATCH])) for k in range(0, len(firsts), BATCH)]
    pseudo = (count * whole - (count - 1) * np.concatenate(parts))[kinds.reshape(-1)]
    moved: NDArray[np.float64] = pseudo - pseudo.mean() + whole
    return moved


def _each_left_out(x: NDArray[Any], y: NDArray[Any], places: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """[places, texts - 1]: both sides without the text at each place."""
    kept = np.arange(len(x) - 1) + (np.arange(len(x) - 1) >= places[:, None])
    return x[kept], y[kept]


def gold_values(examples: Sequence[SentencePair], labels: Sequence[str]) -> NDArray[np.generic]:
    """[examples]: the place of each gold label among `labels`, int64; or without labels the number, float64.

    Raises:
        InputError: a label is not one of `labels`, or is no finite number.
    """
    if not labels:
        for example in examples:
            if isinstance(example.label, str) or not np.isfinite(example.label):
                raise InputError(f"label {example.label!r} in the data: regression needs finite numbers")
        return np.asarray([example.label for example in examples], dtype=np.float64)
    places = {label: number for number, label in enumerate(labels)}
    if strange := {str(example.label) for example in examples} - set(places):
        raise InputError(f"label {min(strange)!r} in the data: the task has {', '.join(labels)}")
    return np.asarray([places[str(example.label)] for example in examples], dtype=np.int64)


def score_texts(
    predictions: Sequence[str] | Sequence[float],
    examples: Sequence[SentencePair],
    labels: Sequence[str],
    measures: Sequence[str],
) -> list[Score]:
    """Compare predictions with gold labels, or numbers where there are no `labels`; as `evaluate_classifier` does.

    Raises:
        InputError: there is no example, or a measure does not fit.
    """
    if not examples:
        raise InputError("no labelled text to score on: the data is empty")
    for measure in measures:
        computed(measure, len(labels))
    gold = gold_values(examples, labels)
    predicted = gold_values([SentencePair("", None, value) for value in predictions], labels)
    return [score(measure, predicted, gold) for measure in measures]
