"""TSV files of labelled sentences and sentence pairs: those of GLUE, of the STS benchmark, of XNLI.

Cells are separated by tabs and nothing is quoted: a quotation mark is text. A file is read whole and right, or
refused with the line at fault.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Literal

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import SentencePair
from babelscope.core.tasks import Task
from babelscope.corpora.lines import Line, numbered_lines

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
"""As people write numbers; Python's own would take 0_5 for 5."""

Column = str | int
"""By its name in the header, or in a file without one by its place, from 0."""


@dataclass(frozen=True)
class Layout:
    """Where a file has what. All columns are given by name, or all by place; then the file has no header."""

    first: Column
    second: Column | None
    label: Column
    labels: Mapping[str, str] | Literal["any"] | None = None
    """The file's labels and what they are called here; "any": as they stand there; None: the label is a number."""
    scale: tuple[float, float] = (-math.inf, math.inf)
    """The lowest and the highest number."""
    language: Column | None = None
    """Of files with all languages: the code of a line's language."""
    cells: int | None = None
    """Of files without header: how many cells a line has; None: as many as needed, or more."""
    skips_damaged: bool = False
    """Whether lines of another width or without a text are left out, where the published file is known to have some."""

    @property
    def columns(self) -> dict[str, Column]:
        """The columns that are read."""
        given = {"first": self.first, "second": self.second, "label": self.label, "language": self.language}
        return {part: column for part, column in given.items() if column is not None}


def read_pairs(path: Path, layout: Layout, language: str | None = None) -> list[SentencePair]:
    """All examples of a file, plain or gzip-compressed (told apart by content, not by name).

    Args:
        path: the file.
        layout: where it has what.
        language: of a file with all languages, the one to read.

    Raises:
        DataError: a column is not in the header, or with its line: too few or too many cells, an unknown label, a
            score that is no number or off the scale, a text without any letter; or there is no example at all.
    """
    lines = numbered_lines(path)
    places, width = _places(path, layout, lines)
    examples, languages = [], set()
    for line in lines:
        cells = line.text.split("\t")
        if layout.skips_damaged and (len(cells) != width or not all(cells[places[part]].strip() for part in places)):
            continue
        _check_width(path, line, len(cells), width, layout)
        if layout.language is not None:
            languages.add(cells[places["language"]])
            if cells[places["language"]] != language:
                continue
        examples.append(_example(path, line, {part: cells[place] for part, place in places.items()}, layout))
    if not examples:
        there = f"; its languages are {', '.join(sorted(languages))}" if languages else ""
        raise DataError(path, None, f"holds no example{f' of language {language!r}' if languages else ''}{there}")
    return examples


def write_pairs(path: Path, pairs: Sequence[SentencePair]) -> None:
    """Write texts with their labels as TSV with a header: `first second label`, or `first label` for single texts.

    Nothing is quoted or escaped. Raises `InputError`, and writes nothing, if a text or label holds a tab or the end of
    a line, or only some of the texts are pairs.
    """
    single = {pair.second is None for pair in pairs}
    if len(single) > 1:
        raise InputError("cannot write pairs and single texts into one file; write them apart")
    header = "first\tlabel" if single == {True} else "first\tsecond\tlabel"
    lines = [_pair_line(number, pair) for number, pair in enumerate(pairs, start=1)]
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8", newline="\n")


def written_layout(pair: bool, labels: Sequence[str]) -> Layout:
    """The layout of files that `write_pairs` wrote; without labels they are numbers."""
    return Layout("first", "second" if pair else None, "label", dict(zip(labels, labels, strict=True)) or None)


def labelled_layout(task: Task) -> Layout:
    """The layout of a table with the columns that a task names; its classes may be any where it has none yet."""
    columns = (task.texts[0], task.texts[1] if task.pair else None, task.label)
    if task.scale:
        return Layout(*columns, scale=task.scale)
    return Layout(*columns, dict(zip(task.labels, task.labels, strict=True)) or "any")


def check_header(path: Path, header: Sequence[str], wanted: Sequence[str]) -> None:
    """Raises DataError unless a table has each column once."""
    for column in wanted:
        if (times := header.count(column)) != 1:
            problem = f"{times} columns are named {column!r}" if times else f"no column {column!r}"
            names = shorten(", ".join(header), 300) if any(header) else "nothing"
            alone = "; its lines end in CR alone, write them with LF" if any("\r" in name for name in header) else ""
            raise DataError(path, 1, f"{problem} in the header, which has {names} (separated by tabs){alone}")


def _places(path: Path, layout: Layout, lines: Iterator[Line]) -> tuple[dict[str, int], int | None]:
    """Where the columns are, and how many cells a line has; reads the header if there is one."""
    if isinstance(layout.first, int):
        return {part: int(column) for part, column in layout.columns.items()}, layout.cells
    header = next(lines, Line(1, "")).text.split("\t")
    check_header(path, header, [str(column) for column in layout.columns.values()])
    return {part: header.index(str(column)) for part, column in layout.columns.items()}, len(header)


def _check_width(path: Path, line: Line, cells: int, width: int | None, layout: Layout) -> None:
    least = 1 + max(column for column in layout.columns.values() if isinstance(column, int)) if width is None else 0
    if cells != width and (width is not None or cells < least):
        expected = f"{width}" if width is not None else f"at least {least}"
        raise DataError(path, line.number, f"{cells} cells separated by tabs; expected {expected}")


def _example(path: Path, line: Line, cells: dict[str, str], layout: Layout) -> SentencePair:
    for part in ("first", "second"):
        if part in cells and not cells[part].strip():
            raise DataError(path, line.number, f"no text in column {layout.columns[part]!r}")
    second = cells["second"].strip() if "second" in cells else None
    return SentencePair(cells["first"].strip(), second, _label(path, line, cells["label"].strip(), layout))


def _label(path: Path, line: Line, text: str, layout: Layout) -> str | float:
    where = f"in column {layout.label + 1 if isinstance(layout.label, int) else repr(layout.label)}"
    if layout.labels == "any":
        if not text:
            raise DataError(path, line.number, f"no label {where}")
        return text
    if layout.labels is not None:
        if text not in layout.labels:
            problem = f"unknown label {text!r} {where}; expected {', '.join(layout.labels)}"
            raise DataError(path, line.number, problem)
        return layout.labels[text]
    low, high = layout.scale
    if not _NUMBER.fullmatch(text):
        raise DataError(path, line.number, f"the score {text!r} {where} is no number")
    number = float(text)
    if not (low <= number <= high and math.isfinite(number)):
        raise DataError(path, line.number, f"the score {text} {where} is not between {low:g} and {high:g}")
    return number


def _pair_line(number: int, pair: SentencePair) -> str:
    columns = [str(column) for column in pair if column is not None]
    for column in columns:
        if any(mark in column for mark in "\t\n\r"):
            problem = "holds a tab or the end of a line, which would break the table; replace these by spaces"
            raise InputError(f"example {number} cannot be written as TSV: {column[:100]!r} {problem}")
    return "\t".join(columns)
