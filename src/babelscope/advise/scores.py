"""The scores of a race: from the rows of its steps, and sentence by sentence where two are compared."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from babelscope.core.errors import StoreError
from babelscope.core.inference import FEWEST_SEEDS, Table, contributions, effect, gains
from babelscope.core.intervals import Interval
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.comparison import counts
from babelscope.steps import Evaluate


class Scores:
    """The scores of evaluations that are in a store, one a round, in one measure."""

    def __init__(self, store: Store, measure: str):
        self._store, self._measure = store, measure

    def mean(self, evaluations: Sequence[Evaluate]) -> float:
        """The mean over rounds, as rows have it."""
        return fmean(map(self._value, evaluations))

    def interval(self, evaluations: Sequence[Evaluate]) -> Interval:
        """The mean over rounds, with its interval."""
        return interval_of(self.counts(evaluations))

    def gain(self, first: Sequence[Evaluate], second: Sequence[Evaluate], confidence: float = 0.95) -> Interval:
        """How much better the first is than the second in the rounds that both ran."""
        rounds = min(len(first), len(second))
        ours, theirs = (self.counts(side[:rounds]) for side in (first, second))
        return gain_of(ours, theirs, confidence)

    def counts(self, evaluations: Sequence[Evaluate]) -> NDArray[np.float64]:
        """[2, rounds, sentences]: the numerators and denominators of the measure, which rows have summed up."""
        return counts(evaluations, FinishedSteps(self._store))[self._measure]

    def _value(self, evaluation: Evaluate) -> float:
        for row in self._store.rows(evaluation.key):
            if row.measure == self._measure:
                return row.value
        raise StoreError(f"result {evaluation.key[:12]} has no {self._measure}; remove it from the store and run again")


def interval_of(counts: NDArray[np.float64]) -> Interval:
    """A ratio over sentences, the mean over rounds, with its interval over sentences and, of three or more, rounds."""
    return _interval(contributions(*counts))


def gain_of(first: NDArray[np.float64], second: NDArray[np.float64], confidence: float = 0.95) -> Interval:
    """How much higher the first ratio is on the same sentences, in the same rounds, with its interval."""
    return _interval(gains(first, second), confidence)


def _interval(table: Table, confidence: float = 0.95) -> Interval:
    """Of models to come, tuned in other rounds; with one round or two of these models alone, on other sentences."""
    if len(table) < FEWEST_SEEDS:
        table = table.mean(axis=0, keepdims=True)
    return effect(table, confidence=confidence, fewest_seeds=1).interval
