"""What scores do on lines and planes between fine-tuned models. Loads no torch.

A place is named by alphas: 0 is the model at the origin, 1 the one at the end of a direction (Wu et al. 2022,
"Zero-shot Cross-lingual Transfer is Under-specified Optimization", equations 1 to 3).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from babelscope.core.errors import InputError

ROUNDING = 1e-9
"""Alphas nearer than this are taken for the same: 0.1 is added up to grids that miss 1 by rounding."""

BENT = 1 - 1e-15
"""Nearly 1, where the inverse hyperbolic tangent is infinite; its factor there is 0."""


class Reach(NamedTuple):
    """How far a score holds along a path."""

    distance: float
    """In units of alpha, 0 or more."""
    at_least: bool
    """Whether the score holds up to the edge of the grid: `distance` is then the one to the edge, a lower bound."""


class Area(NamedTuple):
    """A part of a plane."""

    area: float
    """In units of alpha1 times alpha2. In those of the weights it is this times both norms and the angle's sine."""
    share: float
    """Of the grid's area, between 0 and 1."""


def reach(alphas: ArrayLike, scores: ArrayLike, start: float, drop: float, *, downward: bool = False) -> Reach:
    """How far alpha can go from `start` before the score has fallen by `drop` below the score at `start`.

    Between points scores are interpolated linearly. Only the first fall counts: the score may be high again beyond it.

    Args:
        alphas: [points], in any order.
        scores: [points], higher is better (of a loss, give the negative).
        start: within the grid, not necessarily on it.
        drop: above 0, in the units of the scores.
        downward: go toward lower alphas instead of higher ones.

    Raises:
        InputError: a start outside of the grid, a drop that is not above 0, fewer than 2 points, unequal numbers of
            alphas and scores, one that is not finite, or an alpha twice.
    """
    grid, heights = _path(alphas, scores)
    _check_inside(grid, start)
    if not 0 < drop < math.inf:
        raise InputError(f"how far a score holds is asked for a drop above 0; given {drop:g}")
    side = grid < start if downward else grid > start
    order = slice(None, None, -1 if downward else 1)
    distances = np.abs(np.append(start, grid[side][order]) - start)
    height = np.interp(start, grid, heights)
    return _first_fall(distances, height - np.append(height, heights[side][order]), drop)


def barrier(alphas: ArrayLike, losses: ArrayLike) -> float:
    """Largest excess of the loss between alpha 0 and 1 over the line from the loss at 0 to the loss at 1; else 0.

    This is the barrier of linear mode connectivity as Entezari et al. (2022, "The Role of Permutation Invariance in
    Linear Mode Connectivity of Neural Networks") define it. Frankle et al. (2020, "Linear Mode Connectivity and the
    Lottery Ticket Hypothesis") subtract the mean of the two losses, which is the same where those are equal.

    Args:
        alphas: [points], in any order; those outside of 0 to 1 do not count.
        losses: [points], lower is better (of a score, give the negative).

    Returns:
        In the units of the losses, 0 or more.

    Raises:
        InputError: 0 or 1 is not on the grid, or points that `reach` would refuse.
    """
    grid, heights = _path(alphas, losses)
    left, right = (heights[_index_of(grid, end)] for end in (0.0, 1.0))
    excess = heights - (left + grid * (right - left))
    return float(excess[(grid > ROUNDING) & (grid < 1 - ROUNDING)].max(initial=0.0))


def area_above(first: ArrayLike, second: ArrayLike, scores: ArrayLike, level: float) -> Area:
    """The area of the plane where the score, interpolated bilinearly between points, is at least `level`.

    The border of the area is a hyperbola in each cell and is integrated as such, so that the area is exact but for
    rounding, to about 1e-12 of a cell. How near the scores between points are to bilinear, the grid decides.

    Args:
        first: [points1], alpha1, in any order.
        second: [points2], alpha2, in any order.
        scores: [points1, points2].
        level: in the units of the scores.

    Raises:
        InputError: fewer than 2 points a side, scores of another shape, a number that is not finite, or an alpha twice.
    """
    if not math.isfinite(level):
        raise InputError(f"the level is {level:g}; give a finite one")
    rows, columns, heights = _plane(first, second, scores)
    above = heights - level
    shares = _share_above(above[:-1, :-1], above[1:, :-1], above[:-1, 1:], above[1:, 1:])
    cells = np.outer(np.diff(rows), np.diff(columns))
    area = float((shares * cells).sum())
    return Area(area, area / float(cells.sum()))


def _first_fall(distances: NDArray[np.float64], falls: NDArray[np.float64], drop: float) -> Reach:
    """Where the fall reaches `drop`, for points by distance from the first, whose fall is 0."""
    fallen = np.flatnonzero(falls >= drop)
    if not len(fallen):
        return Reach(float(distances[-1]), True)
    before, after = fallen[0] - 1, fallen[0]
    part = (drop - falls[before]) / (falls[after] - falls[before])
    return Reach(float(distances[before] + part * (distances[after] - distances[before])), False)


def _path(alphas: ArrayLike, values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Alphas in increasing order, and their values; both [points]."""
    grid, heights = np.asarray(alphas, dtype=np.float64), np.asarray(values, dtype=np.float64)
    _check_grid(grid, "alphas")
    _check_values(heights, grid.shape)
    order = grid.argsort()
    return grid[order], heights[order]


def _plane(
    first: ArrayLike, second: ArrayLike, scores: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Both alphas in increasing order, [points1] and [points2], and the scores, [points1, points2]."""
    rows, columns, heights = (np.asarray(given, dtype=np.float64) for given in (first, second, scores))
    _check_grid(rows, "first alphas")
    _check_grid(columns, "second alphas")
    _check_values(heights, rows.shape + columns.shape)
    down, along = rows.argsort(), columns.argsort()
    return rows[down], columns[along], heights[np.ix_(down, along)]


def _check_grid(grid: NDArray[np.float64], name: str) -> None:
    if grid.ndim != 1 or len(grid) < 2:
        raise InputError(f"the {name} have shape {list(grid.shape)}; a grid is a list of 2 points or more")
    if not np.isfinite(grid).all():
        raise InputError(f"one of the {name} is not finite")
    ordered = np.sort(grid)
    if (twice := ordered[1:][np.diff(ordered) <= ROUNDING]).size:
        raise InputError(f"of the {name}, {twice[0]:g} is given twice; give the mean of its values once")


def _check_values(values: NDArray[np.float64], expected: tuple[int, ...]) -> None:
    if values.shape != expected:
        raise InputError(f"the values have shape {list(values.shape)}, the grid {list(expected)}")
    if not np.isfinite(values).all():
        raise InputError("a value on the grid is not finite: the model there has diverged, or was not scored")


def _check_inside(grid: NDArray[np.float64], alpha: float) -> None:
    if not grid[0] - ROUNDING <= alpha <= grid[-1] + ROUNDING:
        raise InputError(f"alpha {alpha:g} is outside of the grid, which is from {grid[0]:g} to {grid[-1]:g}")


def _index_of(grid: NDArray[np.float64], alpha: float) -> int:
    index = int(np.abs(grid - alpha).argmin())
    if abs(grid[index] - alpha) > ROUNDING:
        raise InputError(f"a barrier needs the losses at alpha 0 and 1; {alpha:g} is not on the grid")
    return index


def _share_above(
    low: NDArray[np.float64], low_end: NDArray[np.float64], high: NDArray[np.float64], high_end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """[cells1, cells2]: the share of each cell where it is 0 or more.

    Along its first alpha, a cell's lower edge goes from `low` to `low_end`, its upper one from `high` to `high_end`.
    Of the section between the edges at one alpha, which is linear, the part above 0 is that of its positive values in
    the absolute ones of both ends. Between crossings of 0, both of these are linear in alpha.
    """
    zeros, ones = np.zeros_like(low), np.ones_like(low)
    breaks = np.sort([zeros, ones, _crossing(low, low_end), _crossing(high, high_end)], axis=0)
    lows, highs = low + (low_end - low) * breaks, high + (high_end - high) * breaks  # [4, cells1, cells2]
    positive, size = np.maximum(lows, 0) + np.maximum(highs, 0), np.abs(lows) + np.abs(highs)
    means = _mean_ratio(positive[:-1], positive[1:], size[:-1], size[1:])
    return (np.diff(breaks, axis=0) * means).sum(axis=0)


def _crossing(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where, from 0 to 1, the line from `start` to `end` changes sign; 0 where it does not."""
    return np.divide(start, start - end, out=np.zeros_like(start), where=(start < 0) != (end < 0))


def _mean_ratio(
    part: NDArray[np.float64], part_end: NDArray[np.float64], size: NDArray[np.float64], size_end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean along a line of part / size, both of them linear and 0 or more; 1 where size is 0 all along.

    With t from -1 to 1 the size is proportional to 1 + bend t; `even` and `odd` are the means of 1 and of t over that.
    """
    total = size + size_end
    bend = np.divide(size_end - size, total, out=np.zeros_like(total), where=total > 0)
    straight = np.abs(bend) < 1e-3  # where the closed forms lose digits, and series of two terms are exact
    bent = np.where(straight, 0.5, np.clip(bend, -BENT, BENT))
    even = np.where(straight, 1 + bend**2 / 3 + bend**4 / 5, np.arctanh(bent) / bent)
    odd = np.where(straight, -bend / 3 - bend**3 / 5, (1 - even) / bent)
    summed = (part + part_end) * even + (part_end - part) * odd
    return np.clip(np.divide(summed, total, out=np.ones_like(total), where=total > 0), 0, 1)
