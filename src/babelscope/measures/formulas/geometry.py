"""How far fine-tuned models lie from each other, and in which directions.

Of three models fine-tuned from one start (on the source, on the target, on both), the one on both is the origin from
which the differences to the other two span a plane; a point of it is origin + alpha1 first + alpha2 second (Wu et al.
2022, "Zero-shot Cross-lingual Transfer is Under-specified Optimization", equations 1 to 3 and appendix B).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor

from babelscope.core.errors import InputError

CHUNK = 1 << 20
"""How many numbers of a weight are in float64 at once: the word embeddings of a large encoder would take gigabytes."""


class Turn(NamedTuple):
    """Two differences from one origin, over some weights."""

    first: float
    """Euclidean norm of first - origin, in the units of the weights."""
    second: float
    """Euclidean norm of second - origin."""
    ratio: float
    """The first norm divided by the second."""
    angle: float
    """Between the two differences, in degrees, 0 to 180."""


def turns(
    origin: Mapping[str, Tensor],
    first: Mapping[str, Tensor],
    second: Mapping[str, Tensor],
    groups: Mapping[str, Sequence[str]],
) -> dict[str, Turn]:
    """Norms of first - origin and second - origin, their ratio and the angle between them (Wu et al. 2022, figure 4).

    They are of groups of weights, such as all, each layer and each component, in one pass over the weights.

    The angle is atan2 of the second difference's parts across and along the first. The part across is computed from
    its own entries and added up over weights without subtracting squares, so that angles keep their digits where they
    are tiny, to about 1e-14 degrees. The arccos of the cosine has lost them all below 1e-6 degrees: the cosine of such
    an angle rounds to 1.

    Args:
        origin: weights by name, of any type and device; each is asked for once.
        first: the same shapes.
        second: the same shapes.
        groups: names of weights that all three have, by group; groups may overlap, and a repeated name counts once.

    Raises:
        InputError: names or shapes differ, a weight is not finite, no weight counts, or a difference is zero; says
            in which group.
    """
    sides = {"origin": origin, "first": first, "second": second}
    names = list(dict.fromkeys(chain.from_iterable(groups.values())))
    _check_names(sides, names)
    moments = {name: _moments(name, sides) for name in names}
    return {group: _turn(group, [moments[name] for name in dict.fromkeys(own)]) for group, own in groups.items()}


class _Moments(NamedTuple):
    """What of two differences, over some numbers, is enough to know their norms and angle."""

    first: float = 0.0
    """Squared norm of the first difference."""
    second: float = 0.0
    """Squared norm of the second."""
    product: float = 0.0
    """Their dot product."""
    across: float = 0.0
    """Squared norm of what is left of the second without its projection on the first."""


def _moments(name: str, sides: Mapping[str, Mapping[str, Tensor]]) -> _Moments:
    """The moments of one weight, of which no more than a chunk is in float64 at a time."""
    weights = {side: weights[name].detach() for side, weights in sides.items()}
    for side, weight in weights.items():
        if (given := tuple(weight.shape)) != (expected := tuple(weights["origin"].shape)):
            raise InputError(f"weight {name!r} has shape {list(given)} in the {side}, {list(expected)} in the origin")
    chunks = zip(*(weight.flatten().split(CHUNK) for weight in weights.values()), strict=True)
    total = reduce(_merged, (_chunk_moments(*chunk) for chunk in chunks), _Moments())
    if not all(map(math.isfinite, total)):
        raise InputError(f"weight {name!r} has differences that are not finite: a model has diverged, or overflows")
    return total


def _chunk_moments(origin: Tensor, first: Tensor, second: Tensor) -> _Moments:
    start, axis, other = (weight.to("cpu", torch.float64) for weight in (origin, first, second))
    axis, other = axis - start, other - start
    square, product = (float(axis.dot(vector)) for vector in (axis, other))
    across = torch.sub(other, axis, alpha=product / square) if square else other
    return _Moments(square, float(other.dot(other)), product, float(across.dot(across)))


def _merged(pooled: _Moments, other: _Moments) -> _Moments:
    """The moments of both together, as sums of squares merge in one pass (Chan et al. 1983).

    Where the projections are different multiples of the first difference, part of them is across the joint one.
    """
    total = _Moments(*map(sum, zip(pooled, other, strict=True)))
    if not pooled.first or not other.first:
        return total
    gap = pooled.product / pooled.first - other.product / other.first
    return total._replace(across=total.across + gap**2 * pooled.first * (other.first / total.first))


def _turn(group: str, moments: Sequence[_Moments]) -> Turn:
    if not moments:
        raise InputError(f"{group}: there are none to compare")
    total = reduce(_merged, moments)
    for side, square in (("first", total.first), ("second", total.second)):
        if not square:
            raise InputError(f"{group}: the {side} does not differ from the origin, and zero has no direction")
    first, second, across = (math.sqrt(square) for square in (total.first, total.second, total.across))
    return Turn(first, second, first / second, math.degrees(math.atan2(first * across, total.product)))


def _check_names(sides: Mapping[str, Mapping[str, Tensor]], names: Sequence[str]) -> None:
    for side, weights in sides.items():
        if missing := [name for name in names if name not in weights]:
            raise InputError(f"the {side} has no weight {missing[0]!r}")
