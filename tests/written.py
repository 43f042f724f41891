"""A workspace for steps that need no results of others: what they write is given back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from babelscope.core.row import Row
from babelscope.core.step import Step
from babelscope.steps import SENTENCES


class Written:
    """A workspace of rows in memory and a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[Row] = []

    def write_rows(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)


def rows_of(step: Step) -> list[Row]:
    return rows_and_counts(step)[0]


def rows_and_counts(step: Step) -> tuple[list[Row], dict[str, Any]]:
    """The rows, and what was kept of every sentence."""
    with TemporaryDirectory() as folder:
        written = Written(Path(folder))
        step.execute(written)
        file = written.folder / SENTENCES
        return written.rows, json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
