"""Scores of the models on a line or a plane through trained ones.

Wu, Van Durme and Dredze (2022), section 3.1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

from babelscope.encoders.blend import Blend
from babelscope.encoders.masks import masks_unread
from babelscope.measures.formulas.grid import Point
from babelscope.tasks.measured import Measured

Name = TypeVar("Name", bound=Hashable)


def coefficients(point: Point) -> list[float]:
    """What the models are multiplied by: the origin first, then the end of each direction.

    Rounded to ten digits, so that 0.3 is the same seen from either end of a line.
    """
    return [round(1 - sum(point), 10), *(round(alpha, 10) for alpha in point)]


def survey(
    blend: Blend, order: Sequence[int], points: Sequence[Point], measures: Mapping[Name, Measured]
) -> Iterator[tuple[Point, dict[Name, dict[str, float]]]]:
    """Measure one blend after the other.

    Args:
        blend: of the models.
        order: for each corner of `blend`, which model it is: 0 the origin, then the ends of the directions. Sums in
            one order have the same bits on a line and on a plane that holds it.
        points: where to measure.
        measures: by name of what is measured on, from `measured` of the blend's own model.

    Yields:
        The point, and by name what was measured there.
    """
    for point in points:
        parts = coefficients(point)
        blend.move([parts[place] for place in order])
        with masks_unread():
            measured = {name: measure() for name, measure in measures.items()}
        yield point, measured
