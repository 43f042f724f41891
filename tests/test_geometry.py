"""Geometry of fine-tuned models against flattened vectors, analytic paths and planes, and its laws."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import ortho_group
from torch.utils._python_dispatch import TorchDispatchMode

from babelscope.core.errors import InputError
from babelscope.measures.formulas import geometry
from babelscope.measures.formulas.geometry import Turn, turns
from babelscope.measures.formulas.landscape import Area, Reach, area_above, barrier, reach

SHAPES = {"words": (7, 3), "layer.0.matrix": (3, 4), "layer.0.bias": (4,), "scale": (), "none": (0, 3)}
ALPHAS = np.linspace(-0.5, 1.5, 21)
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


@settings(deadline=None, max_examples=60)
@given(st.floats(0.05, 1), st.floats(0, 1), st.floats(0.1, 5), st.booleans())
def test_reach_on_a_parabola(drop, start, steepness, downward):
    """score = 3 - steepness (alpha - 0.4)^2, interpolated on a fine grid of uneven steps."""
    grid = np.sort(np.append(np.linspace(-4, 5, 9001), np.random.default_rng(0).uniform(-4, 5, 999)))
    sign = -1 if downward else 1
    offset = sign * (start - 0.4)
    expected = math.sqrt(offset**2 + drop / steepness) - offset
    found = reach(grid, 3 - steepness * (grid - 0.4) ** 2, start, drop, downward=downward)
    assert found == (pytest.approx(expected, abs=1e-3), False)


@settings(deadline=None, max_examples=60)
@given(arrays(float, 6, elements=st.floats(-1, 1)), st.floats(0, 2), st.floats(0.01, 3), st.booleans())
def test_reach_equals_a_walk_in_small_steps(scores, start, drop, downward):
    """On a coarse, shuffled grid; a walk can only notice a fall a step late."""
    grid, step = np.array([0, 0.3, 0.5, 1.2, 1.6, 2]), 1e-3
    walk = np.arange(0, start + step if downward else 2 - start + step, step)
    places = np.clip(start - walk if downward else start + walk, 0, 2)
    falls = np.interp(start, grid, scores) - np.interp(places, grid, scores)
    assume(np.abs(falls - drop).min() > 1e-9)
    order = [3, 0, 5, 1, 4, 2]
    found = reach(grid[order], scores[order], start, drop, downward=downward)
    fallen = np.flatnonzero(falls >= drop)
    if found.at_least:
        assert found.distance == pytest.approx(start if downward else 2 - start)
        assert not len(fallen)
    elif len(fallen):
        assert found.distance <= walk[fallen[0]] + 1e-9
        assert not (walk[fallen[0]] > step and found.distance < walk[fallen[0] - 1] - 1e-9)
    else:  # a peak of the fall that is narrower than a step
        assert falls.max() > drop - 0.02


def test_known_reaches():
    grid, scores = [0, 1, 2, 3], [0.9, 0.8, 0.4, 0.9]
    assert reach(grid, scores, 0, 0.3) == (pytest.approx(1.5), False)
    assert reach(grid, scores, 0.5, 0.25) == (pytest.approx(1.0), False)
    assert reach(grid, scores, 0, 0.6) == Reach(3, True)
    assert reach(grid, scores, 0, 0.9 - 0.4) == (pytest.approx(2), False)
    assert reach(grid, scores, 3, 0.2) == Reach(0, True)
    assert reach(grid, scores, 3, 0.25, downward=True) == (pytest.approx(0.5), False)
    assert reach(grid, scores, 1.5, 0.1, downward=True) == Reach(1.5, True)
    assert reach(grid, [1, 1, 1, 1], 1, 1e-300) == Reach(2, True)


@settings(deadline=None, max_examples=50)
@given(st.floats(-5, 5), st.floats(-5, 5))
def test_a_linear_path_has_no_barrier(left, right):
    assert barrier(ALPHAS, left + (right - left) * ALPHAS) == pytest.approx(0, abs=1e-12)


@settings(deadline=None, max_examples=50)
@given(arrays(float, 21, elements=st.floats(0, 5)), st.permutations(range(21)))
def test_a_barrier_equals_a_loop_over_points(losses, order):
    left, right = losses[5], losses[15]
    expected = max(losses[i] - (left + (i - 5) / 10 * (right - left)) for i in range(5, 16))
    assert barrier(ALPHAS[order], losses[order]) == pytest.approx(max(expected, 0), abs=1e-12)


def test_known_barriers():
    assert barrier([0, 0.5, 1], [1, 3, 2]) == 1.5
    assert barrier([0, 0.5, 1], [1, 0, 2]) == 0
    assert barrier([-1, 0, 1, 2], [9, 1, 2, 9]) == 0
    assert barrier(np.arange(-0.5, 1.55, 0.1), np.square(ALPHAS)) == 0


def test_the_area_under_a_plane():
    """z = x: whatever the level, the area above is a rectangle; on an oblique plane, a triangle or a trapezium."""
    first, second = ALPHAS, np.array([-1, 0, 0.1, 2])
    scores = np.repeat(first[:, None], 4, axis=1)
    for level in (-0.6, -0.5, -0.437, 0.1, 0.95, 1.5):
        width = min(1.5 - level, 2)
        assert area_above(first, second, scores, level) == pytest.approx((3 * width, width / 2), abs=1e-12)
        assert area_above(second, first, scores.T, level).area == pytest.approx(3 * width, abs=1e-12)
    oblique = area_above(first, first, first[:, None] + first, 2.2)
    assert oblique == pytest.approx((0.8**2 / 2, 0.8**2 / 8))


def test_the_area_under_a_cone():
    grid = np.linspace(-1, 1, 201)
    cone = 1 - np.hypot(grid[:, None], grid)
    for radius in (0.25, 0.5, 0.9):
        assert area_above(grid, grid, cone, 1 - radius).area == pytest.approx(math.pi * radius**2, rel=1e-3)


@settings(deadline=None, max_examples=50)
@given(st.floats(-15, -0.01))
def test_the_area_under_a_saddle(exponent):
    """z = x y is bilinear, so that 4 corners say all: above a level c are twice 1 - c + c log c."""
    level = 10**exponent
    expected = 2 * (1 - level + level * math.log(level))
    assert area_above([-1, 1], [-1, 1], [[1, -1], [-1, 1]], level).area == pytest.approx(expected, abs=1e-13)
    assert area_above([-1, 1], [-1, 1], [[-1, 1], [1, -1]], -level).area == pytest.approx(4 - expected, abs=1e-13)


@settings(deadline=None, max_examples=40)
@given(arrays(float, (2, 2), elements=st.floats(-1, 1)), st.floats(-1, 1))
def test_the_area_of_a_cell_equals_an_integral(corners, level):
    def section(x):
        low, high = corners[0] + x * (corners[1] - corners[0]) - level
        return 1.0 if min(low, high) >= 0 else max(low, high, 0) / (abs(low) + abs(high) or 1)

    assume(np.abs(corners - level).min() > 1e-6)
    expected = np.mean([section((i + 0.5) / 5000) for i in range(5000)])
    assert area_above([0, 1], [0, 1], corners, level).area == pytest.approx(expected, abs=3e-4)


@pytest.mark.parametrize("widening", [0, 1e-9, -1e-6, 0.0039, 0.0041, 0.2, -1.4, 40])
def test_the_area_under_a_hyperbola(widening):
    """low = -1 + x / 2, high = 1 + (widening + 1/2) x, by quadrature; the closed form changes at a widening of 4e-3."""
    expected, _ = quad(lambda x: (1 + (widening + 0.5) * x) / (2 + widening * x), 0, 1, epsabs=1e-13)
    corners = [[-1, 1], [-0.5, 1.5 + widening]]
    assert area_above([0, 1], [0, 1], corners, 0).area == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=50)
@given(arrays(float, (4, 5), elements=st.floats(-1, 1, width=16)), st.lists(st.floats(-1.1, 1.1), min_size=2), SEEDS)
def test_laws_of_areas(scores, levels, seed):
    """A higher level leaves no more; what is below is the rest; order and sides of the grid do not matter."""
    first, second = np.array([-1, 0, 0.5, 2]), np.array([0, 1, 1.1, 1.5, 4])
    areas = [area_above(first, second, scores, level) for level in sorted(levels)]
    assert all(later.area <= earlier.area + 1e-12 for earlier, later in pairwise(areas))
    assert all(area.share == pytest.approx(area.area / 12) and 0 <= area.share <= 1 + 1e-12 for area in areas)
    level, generator = levels[0], np.random.default_rng(seed)
    down, along = generator.permutation(4), generator.permutation(5)
    found = area_above(first[down], second[along], scores[np.ix_(down, along)], level)
    assert found == area_above(first, second, scores, level)
    assert area_above(second, first, scores.T, level) == pytest.approx(found, abs=1e-11)
    if not (scores == level).any():
        assert area_above(first, second, -scores, -level).area == pytest.approx(12 - found.area, abs=1e-11)


def test_a_plateau_at_the_level_counts():
    scores = np.array([[0.1, 0.1, 0.0], [0.1, 0.1, 0.0]])
    assert area_above([0, 1], [0, 1, 2], scores, 0.1) == Area(1, 0.5)
    assert area_above([0, 1], [0, 1, 2], scores, 0.0) == Area(2, 1)
    assert area_above([0, 1], [0, 1, 2], scores, 0.2) == Area(0, 0)


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: reach([0, 1], [1, 2], 1.2, 1), "alpha 1.2 is outside of the grid, which is from 0 to 1"),
        (lambda: reach([0, 1], [1, 2], math.nan, 1), "alpha nan is outside"),
        (lambda: reach([0, 1], [1, 2], 0, 0), "a drop above 0; given 0"),
        (lambda: reach([0, 1], [1, 2], 0, math.nan), "a drop above 0; given nan"),
        (lambda: reach([0], [1], 0, 1), r"alphas have shape \[1\]"),
        (lambda: reach([0, 1, 0], [1, 2, 3], 0, 1), "of the alphas, 0 is given twice"),
        (lambda: reach([0, 1], [1, 2, 3], 0, 1), r"values have shape \[3\], the grid \[2\]"),
        (lambda: reach([0, 1, 2], [1, math.nan, 3], 0, 1), "not finite: the model there"),
        (lambda: reach([0, 1, math.inf], [1, 2, 3], 0, 1), "one of the alphas is not finite"),
        (lambda: barrier([0.1, 0.5, 1], [1, 2, 3]), "alpha 0 and 1; 0 is not on the grid"),
        (lambda: barrier([0, 0.5, 1.1], [1, 2, 3]), "alpha 0 and 1; 1 is not on the grid"),
        (lambda: area_above([0, 1], [0, 1], [[1, 2]], 0), r"shape \[1, 2\], the grid \[2, 2\]"),
        (lambda: area_above([0, 1], [0], [[1], [2]], 0), r"second alphas have shape \[1\]"),
        (lambda: area_above([1, 1], [0, 1], [[1, 2], [3, 4]], 0), "of the first alphas, 1 is given twice"),
        (lambda: area_above([0, 1], [0, 1], [[1, 2], [3, 4]], math.nan), "the level is nan"),
    ],
)
def test_paths_and_planes_that_cannot_be_measured(compute, message):
    with pytest.raises(InputError, match=message):
        compute()
