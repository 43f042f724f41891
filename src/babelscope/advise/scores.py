"""The scores of a race: from the rows of its steps, and sentence by sentence where two are compared."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from babelscope.core.errors import StoreError
from babelscope.core.intervals import Interval, mean_ratio, paired_gain
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
        """The mean over rounds, with its interval over sentences and rounds."""
        return mean_ratio(self.counts(evaluations))

    def gain(self, first: Sequence[Evaluate], second: Sequence[Evaluate], confidence: float = 0.95) -> Interval:
        """How much better the first is than the second in the rounds that both ran."""
        rounds = min(len(first), len(second))
        ours, theirs = (self.counts(side[:rounds]) for side in (first, second))
        return paired_gain(ours, theirs, confidence=confidence)

    def counts(self, evaluations: Sequence[Evaluate]) -> NDArray[np.float64]:
        """[2, rounds, sentences]: the numerators and denominators of the measure, which rows have summed up."""
        return counts(evaluations, FinishedSteps(self._store))[self._measure]

    def _value(self, evaluation: Evaluate) -> float:
        for row in self._store.rows(evaluation.key):
            if row.measure == self._measure:
                return row.value
        raise StoreError(f"result {evaluation.key[:12]} has no {self._measure}; remove it from the store and run again")
