"""Intervals of ratios and of rank correlations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap, spearmanr, t

from babelscope.core.intervals import ratio_interval, spearman_interval


def test_the_ends_of_a_ratios_interval_are_those_of_a_paired_test():
    a, b = ({seed: value for seed, value in enumerate(side)} for side in ([9.0, 11.0, 10.5], [4.0, 5.5, 5.0]))
    found = ratio_interval(a, b)
    assert found.mean == pytest.approx(30.5 / 14.5) and found.low is not None and found.high is not None
    for ratio in (found.low, found.high):
        left = np.array([a[seed] - ratio * b[seed] for seed in a])
        assert abs(left.mean()) / (left.std(ddof=1) / 3**0.5) == pytest.approx(t.ppf(0.975, 2))


def test_a_ratio_to_what_may_be_nothing_has_no_bounds():
    assert ratio_interval({0: 9.0, 1: 10.0}, {0: 2.0, 1: -1.0}).low is None
    assert ratio_interval({0: 9.0}, {0: 3.0}).mean == 3
    assert ratio_interval({0: 9.0, 1: 6.0}, {0: 3.0, 1: 2.0}).low is None, "the same ratio at all seeds"
    for other in ({1: 3.0}, {0: 0.0}):
        with pytest.raises(ValueError, match="a ratio needs"):
            ratio_interval({0: 9.0}, other)


@pytest.mark.parametrize("ties", [False, True])
def test_the_rank_correlation_and_its_bootstrap_against_one_resample_at_a_time(ties):
    chance = np.random.default_rng(4)
    x = chance.integers(0, 4, 9).astype(float) if ties else chance.normal(size=9)
    y = x + chance.normal(size=9)
    found = spearman_interval(x.tolist(), y.tolist(), resamples=300)
    slow = bootstrap(
        (x, y), lambda a, b: np.nan_to_num(spearmanr(a, b).statistic), paired=True, vectorized=False, n_resamples=300,
        batch=100, random_state=np.random.default_rng(0), method="BCa",
    )  # fmt: skip
    assert found.mean == pytest.approx(spearmanr(x, y).statistic)
    assert (found.low, found.high) == pytest.approx(tuple(slow.confidence_interval))


def test_what_does_not_vary_has_no_rank_correlation():
    for x, y in (([1, 1, 1], [1, 2, 3]), ([1, 2], [1, 2, 3]), ([1], [2])):
        with pytest.raises(ValueError, match="a rank correlation needs"):
            spearman_interval(x, y)
