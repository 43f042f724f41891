"""A small store of format 1 with the study that filled it, and the rows as they were written then.

The store is whole but for the weights of two BiLSTMs, which are large and which no later step needs.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pandas as pd

FOLDER = Path(__file__).parent / "data" / "format1-store"


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


def numbers(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Every number with the key of the step that measured it; intervals count, in columns or in rows of their own."""
    columns = [name for name in ("value", "low", "high") if name in rows]
    pairs = [rows[["key", name]].set_axis(["key", "value"], axis=1) for name in columns]
    together = pd.concat(pairs)
    return sorted(together[together["value"].ne("")].itertuples(index=False, name=None))
