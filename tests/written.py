"""A workspace that keeps rows in memory alone, for steps that write nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from babelscope.core.row import Row
from babelscope.core.step import Step


class Written:
    """A workspace that keeps rows alone."""

    folder = Path()

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write_rows(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)


def rows_of(step: Step) -> list[Row]:
    written = Written()
    step.execute(written)
    return written.rows
