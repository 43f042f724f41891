"""Rows of measures that a report knows nothing about, sorted into numbers that can be pooled: those that differ in
seed alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from babelscope.core.row import Row
from babelscope.report.model import Report

WHAT = ("path", "part", "claim", "word")
"""Columns that belong to what a number is, wherever they are filled."""
WHICH = ("kind", "task", "schedule", "trained_on", "dataset", "split", "alpha1", "alpha2")
"""Columns that are named where they tell apart what else is alike."""


class Kind(NamedTuple):
    """What a number is, in the words of a table."""

    measure: str
    unit: str
    condition: str
    place: str
    details: str


def kinds_of(report: Report, rows: Sequence[Row], *, named: Sequence[str] = ()) -> Callable[[Row], Kind]:
    """What says of each of these rows what it is; `named` are columns that need not be told apart here."""

    def alike(row: Row) -> tuple[Hashable, ...]:
        columns = (getattr(row, name) for name in (*WHAT, *named))
        return (row.measure, row.unit, report.condition(row), report.place(row), row.step, row.layer, *columns)

    values: dict[str, dict[object, set[object]]] = {name: defaultdict(set) for name in WHICH if name not in named}
    for row in rows:
        key = alike(row)
        for name, by_key in values.items():
            by_key[key].add(getattr(row, name))
    telling = [name for name, by_key in values.items() if any(len(different) > 1 for different in by_key.values())]

    def kind_of(row: Row) -> Kind:
        details = [f"{name} {value}" for name in WHAT if (value := getattr(row, name)) is not None]
        details += [str(value) for name in telling if (value := getattr(row, name)) not in (None, "")]
        return Kind(row.measure, row.unit, report.condition(row), report.place(row), ", ".join(details))

    return kind_of
