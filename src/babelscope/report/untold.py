"""Rows of several results that no column tells apart, of which figures and tables take one, or the mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from operator import attrgetter

from babelscope.core.row import Row

VALUES = ("value", "low", "high", "p", "unit", "key", "study")
COLUMNS = tuple(field.name for field in fields(Row) if field.name not in VALUES)


def untold(rows: Sequence[Row]) -> Iterator[str]:
    """A warning for each kind of such rows, with an example."""
    first: dict[tuple[object, ...], Row] = {}
    found: dict[str, tuple[Row, Row]] = {}
    columns = attrgetter(*COLUMNS)
    for row in rows:
        if row.kind == "probe" and not row.task:
            continue  # a reference is measured anew on the corpora of each task, which figures tell apart by their keys
        other = first.setdefault(columns(row), row)
        if other.key != row.key and other.value != row.value:
            found.setdefault(row.kind or "", (other, row))
    for kind, (row, other) in found.items():
        about = ", ".join(filter(None, [row.claim, row.encoder, row.task, row.language, row.dataset]))
        values = f"{row.measure} of {about}: {row.value:.4g} and {other.value:.4g}"
        yield (
            f"No column of the rows tells several results of {kind or 'a step'} apart ({values}), so that tables and "
            "figures mix them or have one alone. Make several studies of them, or give comparisons claims of their own."
        )
