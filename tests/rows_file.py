"""Rows in a file that others read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

NUMBERS = ("value", "low", "high", "p", "alpha1", "alpha2")


def read_rows(path: Path) -> pd.DataFrame:
    """Rows in .csv, with each number as Python reads it: before version 3 pandas takes the last digit for less."""
    return pd.read_csv(path, converters=dict.fromkeys(NUMBERS, lambda text: float(text or "nan")))
