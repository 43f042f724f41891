"""Distances between encoders against loops over words, and the laws that they obey."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import svd
from scipy.stats import ortho_group

from babelscope.core.errors import InputError
from babelscope.encoders.distance import Distances, distances
from babelscope.encoders.tap import word_states

STACKS = st.tuples(st.integers(1, 3), st.integers(2, 12), st.integers(1, 6)).flatmap(
    lambda shape: st.tuples(*[arrays(np.float64, shape, elements=st.floats(0.125, 9))] * 2)
)


def random_states(seed: int, layers: int = 2, words: int = 30, hidden: int = 6) -> torch.Tensor:
    return torch.randn(layers, words, hidden, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def norm(vector) -> float:
    return math.sqrt(sum(value**2 for value in vector))


def one_by_one(states, reference) -> list[float]:
    """The four distances of one layer, a word at a time."""
    pairs = list(zip(states.tolist(), reference.tolist(), strict=True))
    euclidean = [norm([a - b for a, b in zip(*pair, strict=True)]) for pair in pairs]
    cosines = [sum(a * b for a, b in zip(*pair, strict=True)) / norm(pair[0]) / norm(pair[1]) for pair in pairs]
    left, _, right = svd(states.T @ reference)
    turned = [norm(state @ (left @ right) - other) for state, other in zip(states, reference, strict=True)]
    mean, lengths = np.mean(euclidean), [norm(other) for _, other in pairs]
    return [mean, mean / np.mean(lengths), 1 - np.mean(cosines), np.mean(turned)]


@settings(deadline=None, max_examples=60)
@given(STACKS)
def test_distances_equal_a_loop_over_words(stacks):
    states, reference = stacks
    found = distances(torch.from_numpy(states), torch.from_numpy(reference))
    expected = [one_by_one(*layer) for layer in zip(states, reference, strict=True)]
    np.testing.assert_allclose(np.array(found).T, expected, rtol=1e-6, atol=1e-6)


def test_known_values():
    """Two words: one moved by (3, 4) from (0, 5), one twice as long as it was."""
    states, reference = torch.tensor([[[3.0, 9.0], [2.0, 0.0]]]), torch.tensor([[[0.0, 5.0], [1.0, 0.0]]])
    found = distances(states, reference)
    assert found.euclidean.tolist() == [3.0]
    assert found.relative.tolist() == [1.0]
    assert found.cosine == pytest.approx([(1 - 9 / math.hypot(3, 9)) / 2])


@settings(deadline=None, max_examples=40)
@given(STACKS)
def test_the_distance_to_itself_is_zero(stacks):
    states = torch.from_numpy(stacks[0])
    found = distances(states, states)
    assert all(not array.any() for array in found[:3])
    np.testing.assert_allclose(found.aligned, 0, atol=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.integers(2, 40))
def test_alignment_undoes_every_rotation_and_reflection(seed, hidden, words):
    states = random_states(seed, 2, words, hidden)
    turn = torch.from_numpy(ortho_group.rvs(hidden, random_state=seed))
    found = distances(states @ turn, states)
    np.testing.assert_allclose(found.aligned, 0, atol=1e-6)
    assert (found.euclidean > 1e-3).all()


def test_alignment_leaves_what_is_no_rotation():
    states = random_states(0)
    found = distances(states + random_states(1), states)
    assert (found.aligned > 0.3 * found.euclidean).all()
    assert (found.aligned < found.euclidean).all()


def test_alignment_equals_a_search_over_all_angles():
    """In the plane: every rotation by a multiple of 0.02 degrees, alone and after a reflection."""
    states, reference = (random_states(seed, 1, 12, 2) for seed in (0, 1))
    angles = np.linspace(0, 2 * np.pi, 18000, endpoint=False)
    turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]).transpose(2, 0, 1)
    turns = np.concatenate([turns, np.diag([1, -1]) @ turns])
    lengths = np.linalg.norm(states[0].numpy() @ turns - reference[0].numpy(), axis=-1)
    best = np.square(lengths).sum(axis=-1).argmin()
    assert distances(states, reference).aligned == pytest.approx(lengths[best].mean(), rel=1e-3)


@settings(deadline=None, max_examples=40)
@given(STACKS, st.floats(0.01, 100))
def test_scale(stacks, scale):
    """Cosine ignores scale; the relative distance ignores the scale of both."""
    states, reference = map(torch.from_numpy, stacks)
    plain, one, both = (distances(a * states, b * reference) for a, b in ((1, 1), (scale, 1), (scale, scale)))
    np.testing.assert_allclose(one.cosine, plain.cosine, atol=1e-12)
    apart = plain.relative > 1e-6  # of equal states only rounding is left, which scales as it likes
    np.testing.assert_allclose(both.relative[apart], plain.relative[apart], rtol=1e-9)
    np.testing.assert_allclose(both.euclidean, scale * plain.euclidean, rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(STACKS, st.integers(-6, 6))
def test_scale_by_powers_of_two(stacks, power):
    """Nothing is rounded then: equal states too keep their relative distance, bit for bit."""
    states, reference = map(torch.from_numpy, stacks)
    plain, scaled = distances(states, reference), distances(2.0**power * states, 2.0**power * reference)
    np.testing.assert_array_equal(scaled.relative, plain.relative)
    np.testing.assert_array_equal(scaled.euclidean, 2.0**power * plain.euclidean)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_a_reference_of_16_bits(kind):
    """As if it had been given in full precision with the same values."""
    states, reference = random_states(0).float(), random_states(1).to(kind)
    for found, expected in zip(distances(states, reference), distances(states, reference.double()), strict=True):
        assert found.dtype == np.float64
        assert found.tolist() == expected.tolist()


def test_two_tokenizers_read_the_same_words(encoder, other_tokenizer, tagged):
    from babelscope.encoders.shape import Shape, new_encoder

    shape = Shape(hidden=32, layers=2, heads=2, feed_forward=64, positions=64)
    other = new_encoder(shape, other_tokenizer, seed=1, name="other")
    words = [sentence.words for sentence in tagged[:10]]
    found = distances(word_states(encoder, words), word_states(other, words))
    assert isinstance(found, Distances)
    assert all(array.shape == (3,) and (array > 0).all() for array in found)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 30, 6), "2 layers, the reference 3"),
        ((2, 29, 6), "30 words, the reference 29"),
        ((2, 30, 7), "6 dimensions, the reference 7.*CKA"),
        ((30, 6), r"the reference have shape \(30, 6\)"),
    ],
)
def test_shapes_that_cannot_be_compared(shape, message):
    with pytest.raises(InputError, match=message):
        distances(random_states(0), torch.ones(shape))


@pytest.mark.parametrize(
    ("value", "message"), [(float("nan"), "not finite"), (float("inf"), "not finite"), (0.0, "all zeros")]
)
def test_states_without_a_distance(value, message):
    states = random_states(0)
    states[1, 3] = value
    with pytest.raises(InputError, match=f"layer 1 has.*{message}"):
        distances(random_states(1), states)


def test_one_word_is_too_few():
    with pytest.raises(InputError, match="need 2 or more; given 1"):
        distances(random_states(0, words=1), random_states(1, words=1))
