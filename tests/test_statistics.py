"""Intervals against scipy, the textbook formulas, and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from babelscope.core.intervals import (
    Interval,
    bca_interval,
    geometric_interval,
    student_t_interval,
)

shares = st.lists(st.floats(0, 1, allow_nan=False), min_size=2, max_size=8)


def counts(sentences: int, accuracy: float, seed: int = 0) -> tuple[list[int], list[int]]:
    generator = np.random.default_rng(seed)
    total = generator.integers(3, 30, sentences)
    return generator.binomial(total, accuracy).tolist(), total.tolist()


def test_student_t_by_hand():
    found = student_t_interval([0.9, 0.8, 0.85])
    reach = 4.302652729911275 * 0.05 / math.sqrt(3)  # the 0.975 quantile of t with 2 degrees of freedom
    assert (found.mean, found.sd, found.n) == (pytest.approx(0.85), pytest.approx(0.05), 3)
    assert (found.low, found.high) == (pytest.approx(0.85 - reach), pytest.approx(0.85 + reach))


@settings(deadline=None)
@given(shares, st.sampled_from([0.8, 0.95, 0.99]))
def test_student_t_is_scipys(values, confidence):
    found = student_t_interval(values, confidence=confidence)
    assert (found.mean, found.n) == (pytest.approx(np.mean(values)), len(values))
    if np.ptp(values) > 1e-11:
        expected = stats.t.interval(confidence, len(values) - 1, np.mean(values), stats.sem(values))
        assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0], [0.0, 0.0], [0.1] * 7, [0.3, 0.1 + 0.2]])
def test_equal_values_say_nothing_of_how_they_vary(values):
    assert student_t_interval(values) == Interval(pytest.approx(values[0]), None, None, 0.0, len(values))
    if values[0]:
        unknown = geometric_interval(values)
        assert (unknown.mean, unknown.low, unknown.high) == (pytest.approx(values[0]), None, None)


def test_one_value_has_no_interval():
    assert student_t_interval([0.5]) == Interval(0.5, None, None, None, 1)


def test_no_value_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        student_t_interval([])


@settings(deadline=None)
@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=8), st.sampled_from([0.8, 0.95]))
def test_the_geometric_interval_is_scipys_of_logarithms(values, confidence):
    found = geometric_interval(values, confidence=confidence)
    assert found.mean == pytest.approx(stats.gmean(values)) and found.n == len(values)
    error = stats.sem(np.log(values))
    if error > 1e-9:
        low, high = stats.t.interval(confidence, len(values) - 1, np.log(values).mean(), error)
        assert (np.log(found.low), np.log(found.high)) == pytest.approx((low, high), rel=1e-6, abs=1e-6)


def test_the_geometric_interval_stays_above_zero():
    found = geometric_interval([2.0, 200.0])
    assert 0 < found.low < found.mean < found.high and found.mean == pytest.approx(20)
    assert student_t_interval([2.0, 200.0]).low < 0
    assert geometric_interval([5.0]) == Interval(5.0, None, None, None, 1)
    assert geometric_interval([math.exp(700), 5.0]).high == math.inf
    with pytest.raises(ValueError, match="positive values, not 0"):
        geometric_interval([1.0, 0.0])


def bca_slowly(correct, total, draws, confidence):
    """Efron (1987), equations 6.1 to 6.6, one sentence and one resample at a time."""
    normal = stats.norm
    n, ratio = len(total), sum(correct) / sum(total)
    resampled = [sum(correct[i] for i in draw) / sum(total[i] for i in draw) for draw in draws]
    below = sum((value < ratio) + 0.5 * (value == ratio) for value in resampled) / len(resampled)
    bias = normal.ppf(below)
    left_out = [(sum(correct) - correct[i]) / (sum(total) - total[i]) for i in range(n)]
    gaps = [sum(left_out) / n - value for value in left_out]
    acceleration = sum(g**3 for g in gaps) / (6 * sum(g**2 for g in gaps) ** 1.5)

    def bound(share):
        z = bias + normal.ppf(share)
        return np.percentile(resampled, 100 * normal.cdf(bias + z / (1 - acceleration * z)))

    return bound((1 - confidence) / 2), bound((1 + confidence) / 2)


@pytest.mark.parametrize("accuracy", [0.3, 0.9])
def test_bca_against_the_slow_formula(accuracy):
    correct, total = counts(40, accuracy)
    found = bca_interval(correct, total, resamples=4000, seed=1)
    draws = np.random.default_rng(2).integers(0, 40, (4000, 40)).tolist()
    low, high = bca_slowly(correct, total, draws, 0.95)
    assert found.mean == sum(correct) / sum(total)
    assert (found.low, found.high) == pytest.approx((low, high), abs=(high - low) * 0.06)  # other random draws


def test_bca_covers_the_truth_about_as_often_as_it_says():
    hits = 0
    for trial in range(200):
        found = bca_interval(*counts(60, 0.8, seed=trial), resamples=400, seed=trial)
        hits += found.low <= 0.8 <= found.high
    assert 180 <= hits <= 199  # 95% of 200 is 190; the standard deviation is 3


def test_bca_depends_on_the_seed_alone():
    data = counts(50, 0.8)
    assert bca_interval(*data, seed=3) == bca_interval(*data, seed=3)
    assert bca_interval(*data, seed=3) != bca_interval(*data, seed=4)


@pytest.mark.parametrize("correct, total", [([3], [4]), ([4, 7], [4, 7]), ([0, 0], [4, 7]), ([1, 2], [2, 4])])
def test_bca_says_nothing_where_resampling_changes_nothing(correct, total):
    assert bca_interval(correct, total) == Interval(sum(correct) / sum(total), None, None, None, len(total))


def test_bca_with_a_single_error_is_finite():
    found = bca_interval([10] * 499 + [9], [10] * 500)
    assert found.low < found.mean < found.high <= 1


def test_sentences_without_anything_to_count_change_nothing():
    correct, total = counts(40, 0.6)
    with_empty = [[value for one in side for value in (0, one)] for side in (correct, total)]
    assert bca_interval(*with_empty) == bca_interval(correct, total)
    assert bca_interval([0, 3, 0], [0, 4, 0]) == Interval(0.75, None, None, None, 1)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 4).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1))
def test_bca_is_finite_or_says_nothing(pairs):
    correct, total = zip(*pairs, strict=True)
    if sum(total):
        found = bca_interval(correct, total, resamples=200)
        assert found.mean == sum(correct) / sum(total)
        assert found.low is None or (0 <= found.low <= found.high <= 1 and math.isfinite(found.sd))


@pytest.mark.parametrize("correct, total", [([], []), ([1], [1, 2]), ([3], [2]), ([0], [0]), ([-1], [2])])
def test_bca_refuses_odd_counts(correct, total):
    with pytest.raises(ValueError, match="needs"):
        bca_interval(correct, total)


@pytest.mark.parametrize("low, high, sign", [(0.1, 0.2, 1), (-0.2, -0.1, -1), (-0.1, 0.1, 0), (0.0, 0.1, 0)])
def test_the_sign_is_that_of_the_whole_interval(low, high, sign):
    assert Interval((low + high) / 2, low, high, 0.1, 3).sign == sign
    assert Interval((low + high) / 2, None, None, 0.0, 3).sign == 0
