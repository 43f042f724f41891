"""Intervals of ratios and of rank correlations."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import bootstrap, spearmanr, t

from babelscope.core.intervals import ratio_interval, spearman_interval, spearman_p_value


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
        for of in (spearman_interval, spearman_p_value):
            with pytest.raises(ValueError, match="a rank correlation needs"):
                of(x, y)


@pytest.mark.parametrize("count", [6, 9, 10, 19])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_rank_correlation_has_no_interval(count, sign):
    """Its resamples are as perfect; they may differ by rounding."""
    found = spearman_interval(range(count), [sign * number for number in range(count)])
    assert found.mean == pytest.approx(sign) and found.low is found.high is None


@pytest.mark.parametrize("y", [[1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5], [3, 3, 1, 5, 5, 2], [6, 5, 4, 3, 2, 1]])
def test_the_p_value_of_a_rank_correlation_counts_all_orders(y):
    x = [1.0, 2.0, 2.5, 4.0, 5.0, 7.0]
    every = [spearmanr(x, order).statistic for order in permutations(y)]
    found = spearmanr(x, y).statistic
    higher, lower = (np.mean([side * each >= side * found - 1e-12 for each in every]) for side in (1, -1))
    assert spearman_p_value(x, y) == pytest.approx(min(1.0, 2 * min(higher, lower)))


def test_of_many_pairs_orders_are_drawn():
    x = np.arange(12.0)
    y = x + np.random.default_rng(3).normal(0, 4, 12)
    assert spearman_p_value(x, y) == pytest.approx(spearmanr(x, y).pvalue, rel=0.15)
