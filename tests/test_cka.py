"""CKA against Gram matrices written out in full, against U-statistics by explicit sums, and its laws."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from babelscope.core.errors import InputError
from babelscope.encoders.cka import LinearCKA, linear_cka
from babelscope.measures.formulas.states import LanguageStates
from grams import cka_by_grams, gaussian_gram, hsic_by_centring, hsic_by_quadruples, linear_gram


def rbf_cka(x, y, debiased=False):
    """As languages are compared, all layers of x with all layers of y."""
    sides = (LanguageStates(name, torch.as_tensor(side)) for name, side in (("x", x), ("y", y)))
    one, other = (side.units("RBF", debiased) for side in sides)
    return (one @ other.T).reshape((*x.shape[:-2], *y.shape[:-2]))


seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("debiased", [False, True])
kernels = pytest.mark.parametrize("similarity", [linear_cka, rbf_cka])


def states(seed, *shape, offset=0.0):
    return offset + np.random.default_rng(seed).normal(size=shape)


def by_pairs(x, y, gram, hsic):
    """[layers_x, layers_y], one pair after the other."""
    return np.array([[cka_by_grams(gram(a), gram(b), hsic) for b in y] for a in x])


def streamed(x, y, batches, debiased):
    cka = LinearCKA()
    for batch in batches:
        cka.update(x[..., batch, :], y[..., batch, :])
    return cka.similarity(debiased).numpy()


def rotation(seed, width):
    return np.linalg.qr(states(seed, width, width))[0]


@pytest.mark.parametrize(("similarity", "gram"), [(linear_cka, linear_gram), (rbf_cka, gaussian_gram)])
@pytest.mark.parametrize(("debiased", "hsic"), [(False, hsic_by_centring), (True, hsic_by_quadruples)])
@settings(max_examples=10)
@given(seed=seeds, samples=st.integers(5, 9), width=st.integers(1, 7))
def test_cka_is_what_full_gram_matrices_give(similarity, gram, debiased, hsic, seed, samples, width):
    x, y = states(seed, 2, samples, width), states(seed + 1, 3, samples, 4)
    np.testing.assert_allclose(similarity(x, y, debiased), by_pairs(x, y, gram, hsic), rtol=0, atol=1e-10)


def test_more_samples_than_width_and_fewer_are_both_exact():
    for samples, width in ((200, 16), (20, 64)):
        x, y = states(1, 3, samples, width), states(2, 3, samples, width)
        y[1] += x[1]
        expected = by_pairs(x, y, linear_gram, hsic_by_centring)
        np.testing.assert_allclose(linear_cka(x, y), expected, rtol=0, atol=1e-12)
        assert expected[1, 1] > expected[0, 1]


@pytest.mark.filterwarnings("ignore")
def test_the_debiased_form_is_that_of_torch_cka_for_one_batch():
    """torch_cka divides means over batches of the unbiased HSIC: the same only where all samples are one batch."""
    torch_cka = pytest.importorskip("torch_cka")
    torch.manual_seed(0)
    models = [torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh()) for _ in range(2)]
    samples = torch.randn(40, 6)
    oracle = torch_cka.CKA(*models, "one", "other", ["0", "1"], ["0", "1"])
    with torch.no_grad():
        oracle.compare(DataLoader(TensorDataset(samples), batch_size=40))
        layers = [torch.stack([model[0](samples), model(samples)]) for model in models]
    torch.testing.assert_close(linear_cka(*layers, debiased=True).float(), oracle.export()["CKA"], rtol=1e-4, atol=1e-5)


@kernels
@kinds
@given(seed=seeds, samples=st.integers(5, 30), width=st.integers(2, 8))
def test_states_are_like_themselves_rotated_moved_and_scaled(similarity, debiased, seed, samples, width):
    x = states(seed, samples, width)
    moved = 1e3 * x @ rotation(seed + 1, width) - 7
    assert float(similarity(x, x, debiased)) == pytest.approx(1, abs=1e-9)
    assert float(similarity(x, moved, debiased)) == pytest.approx(1, abs=1e-9)


@kernels
@kinds
@given(seed=seeds, samples=st.integers(5, 30), width=st.integers(2, 8), scale=st.floats(1e-6, 1e6))
def test_rotation_place_and_scale_do_not_count(similarity, debiased, seed, samples, width, scale):
    x, y = states(seed, samples, width), states(seed + 1, samples, 3)
    moved = scale * (x @ rotation(seed + 2, width) + 5)
    assert float(similarity(moved, y, debiased)) == pytest.approx(float(similarity(x, y, debiased)), abs=1e-9)


@kernels
@kinds
@given(seed=seeds)
def test_the_sides_are_exchangeable(similarity, debiased, seed):
    x, y = states(seed, 2, 12, 4), states(seed + 1, 3, 12, 6)
    torch.testing.assert_close(similarity(x, y, debiased), similarity(y, x, debiased).T, rtol=0, atol=1e-12)


@kinds
@given(data=st.data(), seed=seeds, samples=st.integers(5, 40), offset=st.sampled_from([0, 1, 10]))
def test_neither_order_nor_size_of_batches_counts(debiased, data, seed, samples, offset):
    x, y = states(seed, 2, samples, 6, offset=offset), states(seed + 1, 2, samples, 4)
    order = data.draw(st.permutations(range(samples)))
    cuts = sorted(data.draw(st.sets(st.integers(1, samples - 1))))
    batches = [order[start:end] for start, end in itertools.pairwise([0, *cuts, samples])]
    expected = linear_cka(x, y, debiased)
    np.testing.assert_allclose(streamed(x, y, batches, debiased), expected, rtol=0, atol=1e-12)


@kinds
def test_few_digits_are_lost_where_the_first_batch_is_far_from_the_mean(debiased):
    x, y = states(1, 500, 16, offset=3.0), states(2, 500, 16)
    x[0] += 100
    batches = np.split(np.arange(500), [1, 100, 300])
    expected = streamed(x, y, [np.roll(np.arange(500), -1)], debiased)
    np.testing.assert_allclose(streamed(x, y, batches, debiased), expected, rtol=0, atol=1e-12)


def test_independent_noise_looks_alike_to_the_biased_form_only():
    draws = [(states(2 * seed, 40, 32), states(2 * seed + 1, 40, 32)) for seed in range(60)]
    biased, debiased = (np.mean([float(linear_cka(x, y, form)) for x, y in draws]) for form in (False, True))
    assert biased > 0.4
    assert abs(debiased) < 0.02


def test_a_mask_leaves_samples_out_of_both_sides():
    x, y, mask = states(1, 2, 5, 7, 4), states(2, 3, 5, 7, 6), states(3, 5, 7) > 0
    cka = LinearCKA()
    cka.update(x, y, mask)
    assert cka.samples == mask.sum()
    torch.testing.assert_close(cka.similarity(), linear_cka(x[:, mask], y[:, mask]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_sums_are_in_double_whatever_comes_in(dtype):
    x, y = (torch.from_numpy(states(seed, 300, 8, offset=30)).to(dtype) for seed in (1, 2))
    torch.testing.assert_close(linear_cka(x, y), linear_cka(x.double(), y.double()), rtol=0, atol=0)


def test_layers_keep_their_dimensions():
    one, many = states(1, 9, 3), states(2, 2, 4, 9, 3)
    assert linear_cka(one, one).shape == rbf_cka(one, one).shape == ()
    assert linear_cka(many, one).shape == rbf_cka(many, one).shape == (2, 4)
    assert linear_cka(many, many).shape == rbf_cka(many, many).shape == (2, 4, 2, 4)
    torch.testing.assert_close(linear_cka(many, one)[1, 2], linear_cka(many[1, 2], one))


@kernels
@pytest.mark.parametrize(("samples", "debiased", "fewest"), [(2, False, "at least 3"), (3, True, "at least 4")])
def test_too_few_samples_are_refused(similarity, samples, debiased, fewest):
    assert similarity(states(1, samples + 1, 5), states(2, samples + 1, 5), debiased).isfinite()
    with pytest.raises(InputError, match=f"{fewest} samples.*there are {samples}"):
        similarity(states(1, samples, 5), states(2, samples, 5), debiased)


@kernels
@kinds
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3])
def test_a_layer_that_does_not_vary_is_named(similarity, debiased, value):
    x, y = states(1, 10, 5), states(2, 3, 10, 5)
    y[1] = value
    with pytest.raises(InputError, match=r"layer 1 of y: (its states are the same|at least half of the distances)"):
        similarity(x, y, debiased)


@kernels
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


def test_unequal_samples_and_shapes_are_refused():
    with pytest.raises(InputError, match="x has 10 samples and y has 9"):
        linear_cka(states(1, 10, 5), states(2, 9, 5))
    with pytest.raises(InputError, match=r"x has the shape \[10\]"):
        linear_cka(states(1, 10), states(2, 10))


def test_a_batch_that_is_refused_is_not_counted():
    x, y = states(1, 2, 10, 5), states(2, 2, 10, 5)
    cka = LinearCKA()
    cka.update(x, y)
    with pytest.raises(InputError, match=r"y: layers and width were \[2, 5\] in the first batch, now \[2, 4\]"):
        cka.update(x, y[..., :4])
    with pytest.raises(InputError, match="NaN"):
        cka.update(x, y * np.nan)
    with pytest.raises(InputError, match="the mask"):
        cka.update(x, y, np.ones(9))
    cka.update(x[:, :0], y[:, :0])
    torch.testing.assert_close(cka.similarity(), linear_cka(x, y), rtol=0, atol=0)


def test_without_any_batch_there_is_no_similarity():
    with pytest.raises(InputError, match="there are 0"):
        LinearCKA().similarity()
