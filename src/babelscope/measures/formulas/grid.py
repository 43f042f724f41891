"""Places on a line or a plane through trained models. Loads no torch.

Wu, Van Durme and Dredze (2022), footnote 5: 33 points on a line, 441 on a plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

_TENTHS = tuple(tenth / 10 for tenth in range(-5, 16))
PATH = tuple(sorted({
    *_TENTHS, 0.025, 0.05, 0.075, 0.125, 0.15, 0.175, 0.825, 0.85, 0.875, 0.925, 0.95, 0.975,
}))  # fmt: skip
"""Places on a line, closer together near both models."""
PLANE = _TENTHS
"""Places along each of two directions."""

RANDOM = tuple(tenth / 10 for tenth in range(-10, 11))
"""Places along a random direction."""
SEEDS = tuple(tenth / 10 for tenth in range(11))
"""Places on a line from one seed's model to another's."""

Point = tuple[float, ...]
"""How far along each direction: 0 is the origin, 1 the model at the direction's end."""


def grid(alphas: Sequence[float], directions: int) -> list[Point]:
    """All points, each once, the last direction fastest."""
    return list(product(dict.fromkeys(alphas), repeat=directions))
