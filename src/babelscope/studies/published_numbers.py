"""Published numbers that stand beside a study's own, and where each of them is from.

`published/numbers/STUDY.csv` has the numbers, in columns as rows have them. `published/origins.csv` says where they are
from: a line names a study, and what rows it is about by some of their columns (`*` stands for anything). Where several
lines are about a row, the last counts.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.row import Row

PATTERNS = ("kind", "encoder", "surgery", "schedule", "measure")
"""Columns of `origins.csv` that say which rows a line is about."""


class Origin(NamedTuple):
    """Where some published numbers are from."""

    what: str
    """The numbers, in words."""
    where: str
    """The paper's table, figure or section, or a file of its published code."""
    how_many: int


def published_rows(study: str) -> list[Row]:
    """The published numbers of a study, in any of its profiles; none for most studies."""
    numbers = f"numbers/{study.partition('@')[0]}"
    return [
        Row(study=study, **{column: _typed(column, text) for column, text in line.items() if text})
        for line in (read_table(numbers) if _table(numbers).is_file() else ())
    ]


def origins(study: str) -> list[Origin]:
    """Where the published numbers of a study are from, as `origins.csv` lists it.

    Raises:
        InputError: it is not said of one of them.
    """
    lines = [line for line in read_table("origins") if line["study"] == study.partition("@")[0]]
    counts = Counter(_line_about(row, lines) for row in published_rows(study))
    return [Origin(line["what"], line["where"], counts[number]) for number, line in enumerate(lines)]


def _line_about(row: Row, lines: Sequence[Mapping[str, str]]) -> int:
    about = [
        number
        for number, line in enumerate(lines)
        if all(fnmatchcase(str(getattr(row, column) or ""), line[column]) for column in PATTERNS)
    ]
    if not about:
        raise InputError(f"published/origins.csv does not say where this number of {row.study} is from: {row}")
    return about[-1]


@cache
def read_table(name: str) -> tuple[dict[str, str], ...]:
    """The lines of a table of the folder `published`, by column."""
    return tuple(csv.DictReader(_table(name).read_text(encoding="utf-8").splitlines()))


def _table(name: str) -> Traversable:
    return files("babelscope.studies") / "published" / f"{name}.csv"


def _typed(column: str, text: str) -> Any:
    return int(text) if column in ("seed", "step", "layer") else float(text) if column == "value" else text
