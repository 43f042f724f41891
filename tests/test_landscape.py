"""Reaches, barriers and areas of losses between models: against slow walks, loops, integrals and analytic planes."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from babelscope.core.errors import InputError
from babelscope.measures.formulas.landscape import Area, Reach, area_above, barrier, reach

ALPHAS = np.linspace(-0.5, 1.5, 21)
SEEDS = st.integers(0, 2**32 - 1)


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
@example(np.array([0.0, -1, 1, 0, 0, 0]), 0.0005, 0.998, False)
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
