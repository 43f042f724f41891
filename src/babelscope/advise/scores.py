"""The scores of a race: from the rows of its steps, and sentence by sentence where two are compared."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from babelscope.core.errors import StoreError
from babelscope.core.inference import FEWEST_SEEDS, Effect, Table, effect, holm
from babelscope.core.intervals import Interval
from babelscope.core.samples import Samples
from babelscope.core.scores import measure_of
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.comparison import counts
from babelscope.report.judged import LEVEL, p_of, said
from babelscope.report.score import within_bounds
from babelscope.steps import Evaluate, Tune


class Scores:
    """The scores of evaluations that are in a store, one a round, in one measure."""

    def __init__(self, store: Store, measure: str):
        self._store, self._measure = store, measure

    def mean(self, evaluations: Sequence[Evaluate]) -> float:
        """The mean over rounds, as rows have it."""
        return fmean(map(self._value, evaluations))

    def of(self, evaluations: Sequence[Evaluate]) -> Samples:
        """By the seeds of the rounds, sentence by sentence."""
        kept = counts(evaluations, FinishedSteps(self._store))[self._measure]
        seeds: list[int | None] = [evaluation.model.seed for evaluation in evaluations]
        values = dict(zip(seeds, map(self._value, evaluations), strict=True))
        return Samples.of(values, dict(zip(seeds, kept.swapaxes(0, 1), strict=True)))

    def rise(self, models: Sequence[Tune]) -> float | None:
        """How much better they became on dev sentences in the last third of their training: the mean."""
        late_gain = measure_of(self._measure).late_gain
        gains = [gain for model in models if (gain := late_gain(self._on_dev(model))) is not None]
        return fmean(gains) if gains else None

    def _on_dev(self, model: Tune) -> list[float]:
        """The score at each validation."""
        rows = [row for row in self._store.rows(model.key) if row.split == "dev" and row.measure == self._measure]
        by_step = {row.step: row.value for row in rows if row.step is not None}
        return [by_step[step] for step in sorted(by_step)]

    def _value(self, evaluation: Evaluate) -> float:
        for row in self._store.rows(evaluation.key):
            if row.measure == self._measure:
                return row.value
        raise StoreError(f"result {evaluation.key[:12]} has no {self._measure}; remove it from the store and run again")


def effect_of(score: Samples) -> Effect:
    """The mean over rounds, with its interval over sentences and, of three or more, rounds; fewer are these alone."""
    return _effect(score.table)


def interval_of(score: Samples) -> Interval:
    """That interval, cut where no score can be."""
    return within_bounds(effect_of(score).interval, "share")


def gain_of(first: Samples, second: Samples) -> Effect:
    """How much higher the first is on the same sentences, in the rounds that both ran.

    Raises:
        ValueError: there is no such round.
    """
    difference = first - second
    if difference is None:
        raise ValueError(f"no round that both ran: {first.seeds} and {second.seeds}")
    return _effect(difference.table)


def _effect(table: Table) -> Effect:
    """Of models to come, tuned in other rounds; with one round or two of these models alone, on other sentences."""
    if len(table) < FEWEST_SEEDS:
        table = table.mean(axis=0, keepdims=True)
    return effect(table, fewest_seeds=1)


class Behind(NamedTuple):
    """How much better the recipe that was picked is than another."""

    interval: Interval
    """Of this difference alone."""
    p: float
    """Of no difference, held against having been picked; 1 where it cannot be said."""
    p_equal: float
    """Of a difference as large as the margin, likewise (two one-sided tests)."""

    @property
    def sign(self) -> int:
        """1 where it shows that the one that was picked is better, -1 where the reverse does, else 0."""
        return said(self.interval.mean, self.p).sign or 0

    @property
    def equal(self) -> bool:
        """Whether the difference shows to be smaller than the margin, up and down."""
        return self.p_equal < LEVEL


def behind_first(scores: Sequence[Samples], margin: float) -> list[Behind]:
    """How far all others are behind the first, which was picked from among them.

    Any of them could have been picked, so that p-values are corrected for all pairs (Holm 1979). The differences to
    the first alone are too few: what luck in its tunings has picked is then better than the others by the same luck.
    The largest of as many t (`best_of`) would take the fewest degrees of freedom of any pair, and the same rounds.
    """
    pairs = [gain_of(first, second) for first, second in combinations(scores, 2)]  # those of the first are first
    alike, apart = _corrected([p_of(pair) for pair in pairs]), _corrected([p_of(pair, margin) for pair in pairs])
    return [Behind(pair.interval, alike[k], apart[k]) for k, pair in enumerate(pairs[: len(scores) - 1])]


def _corrected(p_values: Sequence[float | None]) -> list[float]:
    adjusted = holm({str(k): p for k, p in enumerate(p_values) if p is not None})
    return [adjusted.get(str(k), 1.0) for k in range(len(p_values))]
