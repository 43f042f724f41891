"""Rows of scores as people read them: a line a model, its scores beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from babelscope.core.errors import InputError
from babelscope.core.row import COLUMNS, Row

if TYPE_CHECKING:
    import pandas as pd

BESIDE = {"language": ("language", "dataset"), "measure": ("measure", "unit")}
"""What stands beside each other -> the columns of rows that it takes the place of."""
_LOST = ("key", "kind", "value", "low", "high", "p")
"""Columns that are about one number and no other."""


def of_split(rows: Sequence[Row], split: str) -> list[Row]:
    """The rows of a split.

    Raises:
        InputError: there are none; names the splits that there are.
    """
    kept = [row for row in rows if row.split == split]
    if not kept:
        there = ", ".join(sorted({row.split for row in rows if row.split})) or "none"
        raise InputError(f"no rows of the split {split!r}; there are {there}")
    return kept


def wide_table(rows: Sequence[Row], beside: str) -> pd.DataFrame:
    """The scores among rows: a line a model (a seed each) and measure or data set, a column a language or measure.

    Columns without any value are left out. A language that is scored on several data sets has a column for each.

    Raises:
        InputError: nothing can stand beside each other so, there are no scores, or no column tells two of them apart.
    """
    import pandas as pd  # not at the top: half a second

    if beside not in tuple(BESIDE):  # of what cannot be hashed, too
        raise InputError(f"a wide table has a column a {' or a '.join(BESIDE)}, not a {beside!r}")
    scores = [row for row in rows if row.kind == "score"]
    if not scores:
        raise InputError("no scores among the rows, and a wide table shows nothing else")
    fixed = [
        name for name in COLUMNS
        if name not in (*BESIDE[beside], *_LOST) and any(getattr(row, name) is not None for row in scores)
    ]  # fmt: skip
    lines: dict[tuple[Any, ...], dict[str, float]] = {}
    headings = _headings(scores, beside)
    for row, heading in zip(scores, headings, strict=True):
        line = lines.setdefault(tuple(getattr(row, name) for name in fixed), {})
        if heading in line:
            raise InputError(f"two values of {row.measure} in the column {heading}: no column tells the two apart")
        line[heading] = row.value
    cells = [dict(zip(fixed, labels, strict=True)) | values for labels, values in lines.items()]
    table = pd.DataFrame(cells, columns=[*fixed, *dict.fromkeys(headings)])
    whole: dict[str, Any] = {name: "Int64" for name in ("shots", "seed", "step", "layer") if name in fixed}
    return table.astype(whole)


def _headings(scores: Sequence[Row], beside: str) -> list[str]:
    """Of each score the column that it stands in: not one of those of rows, which a language may be called as."""
    return [f"{name} ({beside})" if name in COLUMNS else name for name in _names(scores, beside)]


def _names(scores: Sequence[Row], beside: str) -> list[str]:
    if beside == "measure":
        return [row.measure for row in scores]
    datasets: dict[str | None, set[str | None]] = {}
    for row in scores:
        datasets.setdefault(row.language, set()).add(row.dataset)
    several = {language for language, names in datasets.items() if len(names) > 1}
    return [
        f"{row.language} ({row.dataset})" if row.language in several and row.dataset else row.language or ""
        for row in scores
    ]
