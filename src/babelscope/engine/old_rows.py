"""Rows as they were written before they had columns for intervals, few examples, paths and parts: read as new ones.

Then `accuracy.low` was a row beside `accuracy`, `train_languages` was `qaa+qab:10`, or `qaa > qaa+qab, head alone` of a
model between others, a comparison's claim stood in its measure, and the number of a word in its data set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from babelscope.core.row import BETWEEN, Row
from babelscope.core.training import TrainedOn

ENDS = ("low", "high")


def upgraded(step: str, rows: Sequence[Row]) -> list[Row]:
    """The rows of a step of that class, with today's columns; rows that have these are left as they are."""
    return [_with_shots(row) for row in _UPGRADES.get(step, list)(rows)]


def _with_shots(row: Row) -> Row:
    """`qaa+qab:10`."""
    if row.train_languages is None or ":" not in row.train_languages:
        return row
    return row.labelled(**TrainedOn.read(row.train_languages).columns)


def _with_intervals(rows: Iterable[Row]) -> list[Row]:
    """The rows `accuracy.low` and `accuracy.high` go into the row `accuracy`."""
    listed = list(rows)
    if not any(row.measure.endswith((".low", ".high")) for row in listed):
        return listed
    there = {row.labelled(value=0.0) for row in listed if row.low is None}
    ends = {of: row for row in listed if (of := _end(row)) and of[0] in there}
    joined = []
    for row in listed:
        if _end(row) not in ends:
            low, high = (ends.get((row.labelled(value=0.0), end)) for end in ENDS)
            joined.append(row.labelled(low=low.value if low else row.low, high=high.value if high else row.high))
    return joined


def _end(row: Row) -> tuple[Row, str] | None:
    """Which row, its value left out, this one is an end of the interval of, and which end; None: it is none."""
    measure, _, end = row.measure.rpartition(".")
    return (row.labelled(measure=measure, value=0.0), end) if end in ENDS else None


def _of_paths(rows: Iterable[Row]) -> list[Row]:
    """`qaa > qaa+qab:10, head alone`."""
    return [_of_path(row) for row in rows]


def _of_path(row: Row) -> Row:
    path, _, part = (row.train_languages or "").partition(", ")
    if row.path or BETWEEN not in path:
        return row
    origin = path.split(BETWEEN)[0]
    return row.labelled(path=path, train_languages=origin, part=part.removesuffix(" alone") or None)


def _of_angles(rows: Iterable[Row]) -> list[Row]:
    """The part of the weights was the data set."""
    return [row if row.path else _of_path(row).labelled(part=row.dataset, dataset=None) for row in rows]


def _of_comparisons(rows: Iterable[Row]) -> list[Row]:
    """`accuracy gain: CLAIM`."""
    upgraded = []
    for row in _with_intervals(rows):
        measure, gain, claim = row.measure.partition(" gain: ")
        upgraded.append(row.labelled(measure=f"{measure} gain", claim=claim) if gain else row)
    return upgraded


def _of_words(rows: Iterable[Row]) -> list[Row]:
    """`world:qaa-qab 17`."""
    upgraded = []
    for row in rows:
        dataset, _, word = (row.dataset or "").rpartition(" ")
        packed = row.measure.startswith("t-SNE ") and row.word is None
        upgraded.append(row.labelled(dataset=dataset, word=int(word)) if packed else row)
    return upgraded


_UPGRADES: dict[str, Callable[[Sequence[Row]], list[Row]]] = {
    "Evaluate": _with_intervals, "Baseline": _with_intervals, "Compare": _of_comparisons, "Surface": _of_paths,
    "Angle": _of_angles, "Project": _of_words,
}  # fmt: skip
"""By the name of the step's class."""
