"""A small store of format 1 with the study that filled it, and the rows as they were written then.

The store is whole but for the weights of two BiLSTMs, which are large and which no later step needs.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pandas as pd

FOLDER = Path(__file__).parent / "data" / "format1-store"
OLD_COLUMNS = (
    "study", "key", "encoder", "surgery", "schedule", "task", "train_languages", "language", "dataset", "split", "seed",
    "step", "layer", "alpha1", "alpha2", "measure", "value", "unit",
)  # fmt: skip


class Sample(NamedTuple):
    """The study's file, and a copy of its store that a test may write to."""

    study: Path
    store: Path


def sample(folder: Path) -> Sample:
    """The sample, unpacked into an empty folder."""
    shutil.unpack_archive(FOLDER / "store.tar.gz", folder)
    return Sample(Path(shutil.copy(FOLDER / "study.yaml", folder)), folder / "store")


def old_rows() -> pd.DataFrame:
    """The rows as they were written then, every value as text."""
    return read_rows(FOLDER / "rows.csv.gz")


def read_rows(file: Path) -> pd.DataFrame:
    """A file of rows, every value as text."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def assert_equal_rows(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Rows in the old columns are equal to the last character, in whatever order."""
    pd.testing.assert_frame_equal(_in_order(found), _in_order(expected))


def _in_order(rows: pd.DataFrame) -> pd.DataFrame:
    columns = list(OLD_COLUMNS)
    return rows[columns].sort_values(columns, ignore_index=True)


def numbers(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Every number with the key of the step that measured it; intervals count, in columns or in rows of their own."""
    columns = [name for name in ("value", "low", "high") if name in rows]
    pairs = [rows[["key", name]].set_axis(["key", "value"], axis=1) for name in columns]
    together = pd.concat(pairs)
    return sorted(together[together["value"].ne("")].itertuples(index=False, name=None))
