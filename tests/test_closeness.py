"""The tolerance of tests: what another order of additions changes passes, what a fault changes does not."""

import numpy as np
import pytest
import torch

from closeness import assert_close, tolerance


@pytest.mark.parametrize("terms", [10, 1000, 100_000])
def test_another_order_of_additions_is_close(terms):
    chance = np.random.default_rng(terms)
    for _ in range(20):
        numbers = chance.normal(size=terms).astype(np.float32)
        one_by_one = np.cumsum(numbers, dtype=np.float32)[-1]
        assert_close(one_by_one, numbers.astype(np.float64).sum(), terms, magnitude=terms**0.5)


def test_a_fault_is_not_close():
    with pytest.raises(AssertionError):
        assert_close([1.0, 2.001], [1.0, 2.0], terms=64)
    with pytest.raises(AssertionError):
        assert_close(torch.tensor([[1.0, 2.0]]), [[1.0, float("nan")]], terms=64)
    assert_close([1.0, 2.00001], [1.0, 2.0], terms=64)


def test_it_grows_with_the_format_the_sum_and_the_numbers():
    assert tolerance(64, 1.0) < tolerance(256, 1.0) < tolerance(256, 3.0) < 1e-3
    assert tolerance(64, 1.0, torch.float64) < 1e-12
