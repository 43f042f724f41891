"""Learning curves as rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from babelscope.core.row import Row
from babelscope.core.scores import measure_of

if TYPE_CHECKING:
    from babelscope.tuning.checkpoint import Point


def curve_rows(points: Iterable[Point], labels: dict[str, Any]) -> list[Row]:
    """One a point; a dev point's split is "dev" and its data set the dev set."""
    rows = []
    for point in points:
        split, _, dataset = point.split.partition(" ")
        unit = measure_of(point.measure).unit
        row = Row(point.measure, point.value, unit, split=split, dataset=dataset or None, step=point.step)
        rows.append(row.labelled(**labels))
    return rows
