"""Rows as a table, and as files of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babelscope.core.files import replacing
from babelscope.core.outside import check_suffix
from babelscope.core.row import COLUMNS, Row

if TYPE_CHECKING:
    import pandas as pd

ROW_SUFFIXES = (".csv", ".parquet")


def row_table(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as a DataFrame; whole numbers stay whole where a column has gaps."""
    import pandas as pd  # not at the top: half a second

    table = pd.DataFrame([[getattr(row, name) for name in COLUMNS] for row in rows], columns=list(COLUMNS))
    kinds: dict[str, Any] = {name: "Int64" for name in ("shots", "seed", "step", "layer", "word")}
    kinds |= {name: "Float64" for name in ("alpha1", "alpha2", "low", "high", "p")} | {"value": "float64"}
    return table.astype(kinds | {name: "string" for name in COLUMNS if name not in kinds})


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write one number a line, columns in the order of `row.COLUMNS`, as `write_table` does."""
    write_table(row_table(rows), path)


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as .csv or .parquet.

    Raises InputError for another suffix, or when the file cannot be written.
    """
    check_suffix(path, ROW_SUFFIXES)
    with replacing(path) as draft:
        if path.suffix == ".csv":
            table.to_csv(draft, index=False)
        else:
            table.to_parquet(draft, index=False)
