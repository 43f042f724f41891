"""SVCCA and PWCCA against canonical correlations from covariances, and their laws."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.measures.canonical import pwcca, svcca

seeds = st.integers(0, 2**32 - 1)


def states(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def related(seed, samples, width_x, width_y):
    """Two sides that share some of what they hold, with units of very different size."""
    x = states(seed, samples, width_x) * np.geomspace(1, 1e-2, width_x)
    return x, x @ states(seed + 1, width_x, width_y) + 0.3 * states(seed + 2, samples, width_y)


def cca_by_covariances(x, y):
    """Canonical variates of x and correlations from the eigenvectors of Sxx^-1 Sxy Syy^-1 Syx (Hotelling 1936)."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    between = x.T @ y
    values, vectors = scipy.linalg.eigh(between @ np.linalg.solve(y.T @ y, between.T), x.T @ x)
    pairs = slice(None, -min(x.shape[1], y.shape[1]) - 1, -1)
    return x @ vectors[:, pairs], np.sqrt(values[pairs].clip(0, 1))


def main_directions(x, variance):
    """The coordinates of x on as many eigenvectors of its covariance as are needed."""
    x = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(x.T @ x)
    for kept in range(1, x.shape[1] + 1):
        if values[-kept:].sum() >= variance * values.sum():
            break
    return x @ vectors[:, -kept:]


@given(seed=seeds, width_x=st.integers(1, 6), width_y=st.integers(1, 6), variance=st.sampled_from([0.5, 0.9, 0.99]))
def test_svcca_is_the_mean_correlation_of_main_directions(seed, width_x, width_y, variance):
    x, y = related(seed, 40, width_x, width_y)
    expected = cca_by_covariances(main_directions(x, variance), main_directions(y, variance))[1].mean()
    assert svcca(x, y, variance) == pytest.approx(expected, abs=1e-7)


@given(seed=seeds, width_x=st.integers(1, 6), width_y=st.integers(1, 6))
def test_pwcca_weighs_correlations_by_projections(seed, width_x, width_y):
    x, y = related(seed, 40, width_x, width_y)
    variates, correlations = cca_by_covariances(x, y)
    weights = np.array([sum(abs(h @ unit) for unit in (x - x.mean(axis=0)).T) for h in variates.T])
    assert pwcca(x, y) == pytest.approx((weights * correlations).sum() / weights.sum(), abs=1e-7)


@pytest.mark.parametrize("similarity", [svcca, pwcca])
@given(seed=seeds, width=st.integers(1, 8))
def test_states_are_like_themselves(similarity, seed, width):
    x = states(seed, 20, width)
    assert similarity(x, x) == pytest.approx(1, abs=1e-9)


@given(seed=seeds, scale=st.floats(1e-6, 1e6))
def test_rotation_place_and_scale_do_not_change_svcca(seed, scale):
    x, y = related(seed, 30, 5, 4)
    rotation = np.linalg.qr(states(seed + 3, 5, 5))[0]
    assert svcca(scale * (x @ rotation + 5), y) == pytest.approx(svcca(x, y), abs=1e-7)
    assert svcca(y, x) == pytest.approx(svcca(x, y), abs=1e-9)


@given(seed=seeds, scale=st.floats(1e-6, 1e6))
def test_no_invertible_map_of_y_and_no_scale_of_x_changes_pwcca(seed, scale):
    x, y = related(seed, 30, 5, 4)
    map_of_y = np.linalg.qr(states(seed + 3, 4, 4))[0] * np.array([1, 2, 5, 10])
    assert pwcca(scale * (x + 5), y @ map_of_y - 3) == pytest.approx(pwcca(x, y), abs=1e-7)


def test_noise_in_small_units_counts_fully_in_cca_and_little_in_pwcca():
    shared = states(0, 500, 4)
    x, y = (np.hstack([shared, 1e-3 * states(seed, 500, 12)]) for seed in (1, 2))
    assert svcca(x, y, variance=1) < 0.5
    assert svcca(x, y) == pytest.approx(1, abs=1e-3)
    assert pwcca(x, y) > 0.95


def test_directions_without_any_variance_are_left_out():
    x, y = states(1, 30, 4), states(2, 30, 3)
    repeated = np.hstack([x, x[:, :2], np.full((30, 1), 7.0)])
    assert svcca(repeated, y, variance=1) == pytest.approx(svcca(x, y, variance=1), abs=1e-9)


@pytest.mark.parametrize("similarity", [svcca, pwcca])
def test_samples_no_more_than_directions_are_refused(similarity):
    assert similarity(states(1, 10, 8), states(2, 10, 3)) < 1
    with pytest.raises(InputError, match=r"x: 10 samples are too few for the . directions"):
        similarity(states(1, 10, 20), states(2, 10, 3))


@pytest.mark.parametrize("similarity", [svcca, pwcca])
def test_constant_unequal_and_unfinished_states_are_refused(similarity):
    x = states(1, 10, 3)
    with pytest.raises(InputError, match="y: its states are the same for all samples"):
        similarity(x, np.full((10, 3), 0.1))
    with pytest.raises(InputError, match="x has 10 samples and y has 9"):
        similarity(x, x[:9])
    with pytest.raises(InputError, match="NaN"):
        similarity(x, x * np.nan)
    with pytest.raises(InputError, match="one layer"):
        similarity(x[None], x)


@pytest.mark.parametrize("variance", [0, 1.1, np.nan])
def test_the_share_of_variance_is_a_share(variance):
    with pytest.raises(InputError, match="share of variance"):
        svcca(states(1, 10, 3), states(2, 10, 3), variance)
