"""How much chance decides: the variance over seeds of scores on lines between models (Wu et al., 2022, figure 5).

Scores of tasks and pairs are made comparable by a constant, the mean over seeds of the bilingual model's score. A
score that each seed divides by its own bilingual model's does not vary at all at the end of the line, whatever chance
does there; and before it, it varies with the bilingual model too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from babelscope.core.intervals import Interval
from babelscope.report.sections.between.lines import ROLES, Between, Line, Place, common

CONFIDENCE = 0.95


class Spread(NamedTuple):
    """The variance over seeds at a place, of one task and pair."""

    shares: tuple[str, str]
    """The task and the language of the line's first model: pairs that have both in common share that model."""
    value: float
    seeds: int


def variances(between: Between, *, seed_by_seed: bool = False) -> dict[Place, Interval]:
    """The mean over tasks and pairs of the variance over seeds, with its interval, at every place that all have.

    Args:
        between: the lines.
        seed_by_seed: divide by each seed's own bilingual score instead of the mean of them, which biases: the
            variance is 0 at the bilingual model then.
    """
    spreads: dict[Place, dict[tuple[str, str, str], Spread]] = defaultdict(dict)
    for lines in _runs(between):
        for role in ROLES:
            values = _values(lines, lines[0].languages[role], seed_by_seed=seed_by_seed)
            each = np.var([*values.values()], axis=1, ddof=1).tolist() if values else []
            shares = (lines[0].task, lines[0].origin)
            for alpha, variance in zip(values, each, strict=True):
                place = Place(lines[0].encoder, lines[0].role, role, alpha)
                spreads[place][*shares, lines[0].end] = Spread(shares, variance, len(lines))
    return {place: mean_variance(list(there.values())) for place, there in common(spreads).items()}


def _runs(between: Between) -> list[list[Line]]:
    """The lines of all seeds, where there are two or more, between models of the same languages."""
    runs: dict[tuple[str, str, str, str], list[Line]] = defaultdict(list)
    for line in between.bilingual:
        runs[line.encoder, line.task, line.origin, line.end].append(line)
    return [lines for lines in runs.values() if len(lines) > 1]


def _values(lines: Sequence[Line], language: str, *, seed_by_seed: bool) -> dict[float, list[float]]:
    """Place -> the scores of all seeds, divided; none where a seed has no bilingual score, or has not got there yet."""
    own = [score for line in lines if (score := line.bilingual(language))]
    if len(own) < len(lines):
        return {}
    divisors = own if seed_by_seed else [fmean(own)] * len(own)
    curves = [line.scores.get(language, {}) for line in lines]
    alphas = [alpha for alpha in curves[0] if all(alpha in curve for curve in curves)]
    return {
        alpha: [curve[alpha] / divisor for curve, divisor in zip(curves, divisors, strict=True)] for alpha in alphas
    }


def mean_variance(spreads: Sequence[Spread]) -> Interval:
    """The mean of several variances with its chi-square interval; none where nothing varies.

    Those of pairs that share a model count as one, as if they were equal. The degrees of freedom of the mean are
    Satterthwaite's (1946). Scores are taken for normally distributed over seeds.
    """
    mean = fmean(spread.value for spread in spreads)
    freedom = _freedom(spreads, mean)
    if not freedom:
        return Interval(mean, None, None, None, len(spreads))
    from scipy.special import chdtri  # far quicker to import than scipy.stats

    tail = (1 - CONFIDENCE) / 2
    low, high = (mean * freedom / float(chdtri(freedom, above)) for above in (tail, 1 - tail))
    return Interval(mean, low, high, None, len(spreads))


def _freedom(spreads: Sequence[Spread], mean: float) -> float:
    """Of the mean of variances, some of them dependent; 0 where all are."""
    groups: Mapping[tuple[str, str], list[Spread]] = defaultdict(list)
    for spread in spreads:
        groups[spread.shares].append(spread)
    parts = [
        (sum(spread.value for spread in group) / len(spreads) / mean) ** 2 / (min(each.seeds for each in group) - 1)
        for group in groups.values()
        if mean
    ]
    return 1 / sum(parts) if parts else 0.0
