"""How fine-tuned models turn: angles and lengths against flattened vectors, and their laws."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group
from torch.utils._python_dispatch import TorchDispatchMode

from babelscope.core.errors import InputError
from babelscope.measures.formulas import geometry
from babelscope.measures.formulas.geometry import Turn, turns

SHAPES = {"words": (7, 3), "layer.0.matrix": (3, 4), "layer.0.bias": (4,), "scale": (), "none": (0, 3)}


SEEDS = st.integers(0, 2**32 - 1)


def random_weights(seed: int, dtype=torch.double) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator, dtype=dtype) for name, shape in SHAPES.items()}


def flat(weights, names=SHAPES) -> np.ndarray:
    return np.concatenate([weights[name].double().numpy().ravel() for name in names])


def as_weights(vector: np.ndarray) -> dict[str, torch.Tensor]:
    sizes = [math.prod(shape) for shape in SHAPES.values()]
    pieces = np.split(vector, np.cumsum(sizes)[:-1])
    return {name: torch.from_numpy(piece.reshape(SHAPES[name])) for name, piece in zip(SHAPES, pieces, strict=True)}


def turn(origin, first, second, names=None) -> Turn:
    """Of one group: the weights of these names, or all."""
    return turns(origin, first, second, {"the weights": list(origin if names is None else names)})["the weights"]


def flat_turn(origin, first, second) -> Turn:
    """Of flat vectors; the angle is Kahan's, of the sum and the difference of unit vectors."""
    one, other = first - origin, second - origin
    lengths = math.sqrt(math.fsum(one**2)), math.sqrt(math.fsum(other**2))
    one, other = one / lengths[0], other / lengths[1]
    angle = 2 * math.atan2(math.sqrt(math.fsum((one - other) ** 2)), math.sqrt(math.fsum((one + other) ** 2)))
    return Turn(*lengths, lengths[0] / lengths[1], math.degrees(angle))


def same(found: Turn, expected: Turn) -> bool:
    return found == pytest.approx(expected, rel=1e-12, abs=1e-12)


class OnceEach(dict):
    """Weights that count how often each is asked for."""

    def __init__(self, *weights):
        super().__init__(*weights)
        self.asked = Counter()

    def __getitem__(self, name):
        self.asked[name] += 1
        return super().__getitem__(name)


class LargestDouble(TorchDispatchMode):
    """Notes how many numbers the largest float64 tensor made has."""

    largest = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        made = operation(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor) and made.dtype == torch.double:
            self.largest = max(self.largest, made.numel())
        return made


@settings(deadline=None, max_examples=40)
@given(st.tuples(SEEDS, SEEDS, SEEDS).filter(lambda seeds: len(set(seeds)) == 3))
def test_a_turn_equals_that_of_flat_vectors(seeds):
    sides = [random_weights(seed) for seed in seeds]
    assert same(turn(*sides), flat_turn(*map(flat, sides)))
    names = ["words", "scale"]
    assert same(turn(*sides, names), flat_turn(*(flat(side, names) for side in sides)))


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.floats(-12, 0), st.floats(-3, 3), st.booleans())
def test_angles_of_any_size(seed, exponent, scale, opposite):
    """One difference is the other turned by a known angle, near 0 or near 180 degrees, and scaled."""
    one, across = ortho_group.rvs(38, random_state=seed)[:2]
    angle, length = 10**exponent, 10**scale * (-1) ** opposite
    other = (math.cos(angle) * one + math.sin(angle) * across) * length
    found = turn(*map(as_weights, (np.zeros(38), one, other)))
    assert found[:3] == pytest.approx((1, 10**scale, 10**-scale), rel=1e-12)
    small = 180 - found.angle if opposite else found.angle
    assert math.radians(small) == pytest.approx(angle, abs=2e-15)


def test_known_values():
    origin = {"a": torch.tensor([1.0, 1.0]), "b": torch.tensor([5.0])}
    first = {"a": torch.tensor([4.0, 1.0]), "b": torch.tensor([9.0])}
    second = {"a": torch.tensor([1.0, 13.0]), "b": torch.tensor([5.0])}
    assert turn(origin, first, second) == (5, 12, 5 / 12, 90)
    assert turn(origin, first, first).angle == 0
    assert turn(first, origin, first | {"a": torch.tensor([7.0, 1.0]), "b": torch.tensor([13.0])}).angle == 180
    assert turn(origin, first, second, ["a", "a"]) == (3, 12, 0.25, 90)


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_laws_of_a_turn(seed, one, other):
    """Scaling leaves the angle, swapping inverts the ratio, moving and rotating all models leaves everything."""
    generator = np.random.default_rng(seed)
    origin, first, second = generator.normal(size=(3, 38))
    plain = turn(*map(as_weights, (origin, first, second)))
    zero = as_weights(np.zeros(38))
    scaled = turn(zero, as_weights((first - origin) * one), as_weights((second - origin) * other))
    assert scaled.angle == pytest.approx(plain.angle, rel=1e-12)
    assert scaled.ratio == pytest.approx(plain.ratio * one / other, rel=1e-12)
    swapped = turn(*map(as_weights, (origin, second, first)))
    assert same(swapped, Turn(plain.second, plain.first, 1 / plain.ratio, plain.angle))
    rotation, shift = ortho_group.rvs(38, random_state=generator), generator.normal(size=38)
    assert same(turn(*(as_weights(side @ rotation + shift) for side in (origin, first, second))), plain)


def test_groups_equal_their_turns_and_each_weight_is_asked_for_once():
    sides = [OnceEach(random_weights(seed)) for seed in range(3)]
    groups = {"overall": list(SHAPES), "layer 0": ["layer.0.matrix", "layer.0.bias"], "biases": ["layer.0.bias"] * 2}
    found = turns(*sides, groups)
    assert all(side.asked == Counter(SHAPES.keys()) for side in sides)
    assert list(found) == list(groups)
    assert all(found[group] == turn(*sides, names) for group, names in groups.items())
    assert found["overall"] == turn(*sides)


def test_frozen_weights_do_not_count():
    """Weights that one model or both have not changed are as many zeros in the differences."""
    origin, first, second = (random_weights(seed) for seed in range(3))
    first["words"] = origin["words"].clone()
    first["scale"], second["scale"] = origin["scale"].clone(), origin["scale"].clone()
    second["layer.0.bias"] = origin["layer.0.bias"].clone()
    assert same(turn(origin, first, second), flat_turn(*map(flat, (origin, first, second))))


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32])
def test_sums_are_in_double_precision_and_a_chunk_at_a_time(kind, monkeypatch):
    monkeypatch.setattr(geometry, "CHUNK", 5)
    sides = [random_weights(seed, kind) for seed in range(3)]
    sides[0]["words"] = sides[0]["words"].T.contiguous().T
    expected = flat_turn(*map(flat, sides))
    with LargestDouble() as made:
        found = turn(*sides)
    assert same(found, expected)
    assert 0 < made.largest <= 5


def test_weights_in_training_and_of_whole_numbers():
    origin = {"a": torch.ones(3, requires_grad=True), "places": torch.arange(3)}
    first = {"a": torch.zeros(3, requires_grad=True), "places": torch.arange(3)}
    assert turn(origin, first, first).first == pytest.approx(math.sqrt(3))


def without(name):
    return {other: weight for other, weight in random_weights(2).items() if other != name}


@pytest.mark.parametrize(
    ("second", "names", "message"),
    [
        (without("scale"), None, "the second has no weight 'scale'"),
        (without("") | {"words": torch.ones(3, 7)}, None, r"'words' has shape \[3, 7\] in the second, \[7, 3\] in the"),
        (without("") | {"scale": torch.tensor(math.nan)}, None, "'scale' has differences that are not finite"),
        (without("") | {"scale": torch.tensor(math.inf)}, None, "'scale' has differences that are not finite"),
        (random_weights(0), None, "the second does not differ"),
        (without(""), [], "there are none"),
        (without(""), ["none"], "the first does not differ"),
    ],
)
def test_weights_without_a_turn(second, names, message):
    with pytest.raises(InputError, match=message):
        turn(random_weights(0), random_weights(1), second, names)


def test_the_group_without_a_turn_is_named():
    sides = random_weights(0), random_weights(1), random_weights(2) | {"words": random_weights(0)["words"]}
    assert turns(*sides, {"overall": list(SHAPES)})
    with pytest.raises(InputError, match="embeddings: the second does not differ from the origin"):
        turns(*sides, {"overall": list(SHAPES), "embeddings": ["words"]})


def test_weights_that_do_not_count_may_differ():
    sides = random_weights(0), without("scale"), without("none") | {"words": torch.ones(2)}
    assert turn(*sides, ["layer.0.bias"]).first > 0
