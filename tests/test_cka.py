"""CKA against Gram matrices written out in full, against U-statistics by explicit sums, and its laws."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from babelscope.core.errors import InputError
from babelscope.encoders import cka
from babelscope.measures.formulas.states import LanguageStates
from grams import cka_by_grams, gaussian_gram, hsic_by_centring, hsic_by_quadruples, linear_gram


def linear_cka(x, y, debiased=False):
    """As probes compare models, of every layer of x with every layer of y."""
    x, y = torch.as_tensor(x), torch.as_tensor(y)
    if x.ndim == y.ndim == 2:
        return torch.tensor(cka.linear_cka(x, y, debiased), dtype=torch.float64)
    one, other = (side.reshape(-1, *side.shape[-2:]) for side in (x, y))
    return torch.tensor([[cka.linear_cka(a, b, debiased) for b in other] for a in one], dtype=torch.float64)


def cka_by_kernels(kind, x, y, debiased=False):
    """As languages are compared, all layers of x with all layers of y."""
    sides = (LanguageStates(name, torch.as_tensor(side)) for name, side in (("x", x), ("y", y)))
    one, other = (side.units(kind, debiased) for side in sides)
    return (one @ other.T).reshape((*x.shape[:-2], *y.shape[:-2]))


by_linear_kernels, by_gaussian_kernels = partial(cka_by_kernels, "linear"), partial(cka_by_kernels, "RBF")
seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("debiased", [False, True])
LINEAR = (linear_cka, by_linear_kernels)
similarities = pytest.mark.parametrize("similarity", [*LINEAR, by_gaussian_kernels], ids=["linear", "kernels", "RBF"])


def states(seed, *shape, offset=0.0):
    return offset + np.random.default_rng(seed).normal(size=shape)


def by_pairs(x, y, gram, hsic):
    """[layers_x, layers_y], one pair after the other."""
    return np.array([[cka_by_grams(gram(a), gram(b), hsic) for b in y] for a in x])


def rotation(seed, width):
    return np.linalg.qr(states(seed, width, width))[0]


@pytest.mark.parametrize(
    ("similarity", "gram"), [*((each, linear_gram) for each in LINEAR), (by_gaussian_kernels, gaussian_gram)]
)
@pytest.mark.parametrize(("debiased", "hsic"), [(False, hsic_by_centring), (True, hsic_by_quadruples)])
@settings(max_examples=10)
@given(seed=seeds, samples=st.integers(5, 9), width=st.integers(1, 7))
def test_cka_is_what_full_gram_matrices_give(similarity, gram, debiased, hsic, seed, samples, width):
    x, y = states(seed, 2, samples, width), states(seed + 1, 3, samples, 4)
    np.testing.assert_allclose(similarity(x, y, debiased), by_pairs(x, y, gram, hsic), rtol=0, atol=1e-10)


@pytest.mark.parametrize("similarity", LINEAR)
def test_more_samples_than_width_and_fewer_are_both_exact(similarity):
    for samples, width in ((200, 16), (20, 64)):
        x, y = states(1, 3, samples, width), states(2, 3, samples, width)
        y[1] += x[1]
        expected = by_pairs(x, y, linear_gram, hsic_by_centring)
        np.testing.assert_allclose(similarity(x, y), expected, rtol=0, atol=1e-12)
        assert expected[1, 1] > expected[0, 1]


@pytest.mark.filterwarnings("ignore")
def test_the_debiased_form_is_that_of_torch_cka_for_one_batch():
    """torch_cka divides means over batches of the unbiased HSIC: the same only where all samples are one batch."""
    import torch_cka  # here, since importing matplotlib takes long

    torch.manual_seed(0)
    models = [torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh()) for _ in range(2)]
    samples = torch.randn(40, 6)
    oracle = torch_cka.CKA(*models, "one", "other", ["0", "1"], ["0", "1"])
    with torch.no_grad():
        oracle.compare(DataLoader(TensorDataset(samples), batch_size=40))
        layers = [torch.stack([model[0](samples), model(samples)]) for model in models]
    torch.testing.assert_close(linear_cka(*layers, debiased=True).float(), oracle.export()["CKA"], rtol=1e-4, atol=1e-5)


@similarities
@kinds
@given(seed=seeds, samples=st.integers(5, 30), width=st.integers(2, 8))
def test_states_are_like_themselves_rotated_moved_and_scaled(similarity, debiased, seed, samples, width):
    x = states(seed, samples, width)
    moved = 1e3 * x @ rotation(seed + 1, width) - 7
    assert float(similarity(x, x, debiased)) == pytest.approx(1, abs=1e-9)
    assert float(similarity(x, moved, debiased)) == pytest.approx(1, abs=1e-9)


@similarities
@kinds
@given(seed=seeds, samples=st.integers(5, 30), width=st.integers(2, 8), scale=st.floats(1e-6, 1e6))
def test_rotation_place_and_scale_do_not_count(similarity, debiased, seed, samples, width, scale):
    x, y = states(seed, samples, width), states(seed + 1, samples, 3)
    moved = scale * (x @ rotation(seed + 2, width) + 5)
    assert float(similarity(moved, y, debiased)) == pytest.approx(float(similarity(x, y, debiased)), abs=1e-9)


@similarities
@kinds
@given(seed=seeds)
def test_the_sides_are_exchangeable(similarity, debiased, seed):
    x, y = states(seed, 2, 12, 4), states(seed + 1, 3, 12, 6)
    torch.testing.assert_close(similarity(x, y, debiased), similarity(y, x, debiased).T, rtol=0, atol=1e-12)


def test_independent_noise_looks_alike_to_the_biased_form_only():
    draws = [(states(2 * seed, 40, 32), states(2 * seed + 1, 40, 32)) for seed in range(60)]
    biased, debiased = (np.mean([float(linear_cka(x, y, form)) for x, y in draws]) for form in (False, True))
    assert biased > 0.4
    assert abs(debiased) < 0.02


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_sums_are_in_double_whatever_comes_in(dtype):
    x, y = (torch.from_numpy(states(seed, 300, 8, offset=30)).to(dtype) for seed in (1, 2))
    torch.testing.assert_close(linear_cka(x, y), linear_cka(x.double(), y.double()), rtol=0, atol=0)


def test_layers_keep_their_dimensions():
    one, many = states(1, 9, 3), states(2, 2, 4, 9, 3)
    assert by_gaussian_kernels(one, one).shape == ()
    assert by_gaussian_kernels(many, one).shape == (2, 4)
    assert by_gaussian_kernels(many, many).shape == (2, 4, 2, 4)
    torch.testing.assert_close(by_linear_kernels(many, one)[1, 2], linear_cka(many[1, 2], one))


@similarities
@pytest.mark.parametrize(("samples", "debiased", "fewest"), [(2, False, "at least 3"), (3, True, "at least 4")])
def test_too_few_samples_are_refused(similarity, samples, debiased, fewest):
    assert similarity(states(1, samples + 1, 5), states(2, samples + 1, 5), debiased).isfinite()
    with pytest.raises(InputError, match=f"{fewest} samples.*there are {samples}"):
        similarity(states(1, samples, 5), states(2, samples, 5), debiased)


CONSTANT = pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3])


@pytest.mark.parametrize("similarity", [by_linear_kernels, by_gaussian_kernels])
@kinds
@CONSTANT
def test_a_layer_that_does_not_vary_is_named(similarity, debiased, value):
    x, y = states(1, 10, 5), states(2, 3, 10, 5)
    y[1] = value
    with pytest.raises(InputError, match=r"layer 1 of y: (its states are the same|at least half of the distances)"):
        similarity(x, y, debiased)


@kinds
@CONSTANT
def test_a_side_that_does_not_vary_is_named(debiased, value):
    with pytest.raises(InputError, match="y: its states are the same"):
        linear_cka(states(1, 10, 5), np.full((10, 5), value), debiased)


@similarities
def test_samples_equally_unlike_each_other_have_no_debiased_similarity(similarity):
    assert similarity(np.eye(6), states(1, 6, 3)).isfinite()
    with pytest.raises(InputError, match="x: all samples are equally unlike each other"):
        similarity(np.eye(6), states(1, 6, 3), debiased=True)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_states_that_are_not_finite_are_refused(value):
    x, y = states(1, 10, 5), states(2, 10, 5)
    y[3, 2] = value
    with pytest.raises(InputError, match="y has a state that is NaN or infinite"):
        linear_cka(x, y)


def test_unequal_samples_are_refused():
    with pytest.raises(InputError, match="x has 10 samples and y has 9"):
        linear_cka(states(1, 10, 5), states(2, 9, 5))
