"""The rows of a draft, which a step sets or adds to, with a digest beside them of all that was written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.crash import crash_point
from babelscope.core.errors import DamagedResult, StepError, StoreError
from babelscope.core.row import Row, as_record
from babelscope.engine.disk import MISPLACED, append_text, explained, read_file, write_json, write_text
from babelscope.engine.manifest import read_manifest

NUMBERS = ("value", "low", "high", "p")
"""Columns that hold what was measured."""
_TYPES = {column.name: {str} if "str" in str(column.type) else {int, float} for column in fields(Row)}
"""What can stand in each column, where anything does."""
ROWS = "rows.jsonl"
DIGEST, UNFINISHED, UNFINISHED_DIGEST = "rows.digest", "rows.draft", "rows.digest.draft"
"""The digest is gone when the rows are published, since their manifest has one."""


class Written(NamedTuple):
    """What a journal holds."""

    rows: list[Row]
    """Up to the first line that is not one, or that a kill has cut short."""
    is_sound: bool
    """Whether all is as it was written, but for a last line without an end."""


class Journal:
    """The rows in a draft's folder."""

    def __init__(self, folder: Path):
        self._folder, self._path = folder, folder / ROWS

    def set(self, rows: Iterable[Row]) -> None:
        """Write these rows in place of all others."""
        text = "".join(map(_line, rows))
        with explained(self._path):
            write_text(self._folder / UNFINISHED, text)
            crash_point("rows-written")
            self._note_digest(text.encode(), before=self._content())
            crash_point("rows-announced")
            (self._folder / UNFINISHED).replace(self._path)
            crash_point("rows-moved")
            self._note_digest(text.encode())

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows at the end, flushed to the disk."""
        text = "".join(map(_line, rows))
        with explained(self._path):
            before = self._content()
            after = before + text.encode()
            self._note_digest(after, added_to=before)  # since a kill may leave a part of it
            append_text(self._path, text)
            crash_point("rows-added")
            self._note_digest(after)

    def read(self) -> Written:
        """What is there."""
        with explained(self._path):
            content = self._content()
            rows, are_rows = _rows(content)
            return Written(rows, are_rows and self._matches(content))

    def _content(self) -> bytes:
        try:
            return read_file(self._path)
        except MISPLACED:
            return b""

    def is_misplaced(self) -> bool:
        """Whether there are folders where its files should be."""
        return any((self._folder / name).is_dir() for name in (ROWS, DIGEST, UNFINISHED, UNFINISHED_DIGEST))

    def forget_digest(self) -> None:
        """Remove the digest."""
        (self._folder / DIGEST).unlink(missing_ok=True)

    def _note_digest(self, content: bytes, before: bytes | None = None, added_to: bytes | None = None) -> None:
        """Of what is written, with the step's key.

        While it is not known what is there, also of what was before, or of what is being `added_to`.
        """
        earlier = {"before": before, "added to": added_to}
        told = {name: _digest(other) for name, other in earlier.items() if other is not None}
        recorded = {"key": self._folder.name} | _digest(content) | told
        write_json(self._folder / UNFINISHED_DIGEST, recorded)
        crash_point("digest-written")
        (self._folder / UNFINISHED_DIGEST).replace(self._folder / DIGEST)

    def _matches(self, content: bytes) -> bool:
        """Whether it is what the digest is of: all, what was before, or a part of more; a line without an end aside."""
        try:
            recorded = json.loads(read_file(self._folder / DIGEST))
            if recorded["key"] != self._folder.name:  # the folder was another step's
                return False
            whole = {name: recorded[name] for name in ("bytes", "sha256")}
            is_whole = b"\n" not in content[whole["bytes"] :] and _digest(content[: whole["bytes"]]) == whole
            return is_whole or _digest(content) == recorded.get("before") or _is_part(content, whole, recorded)
        except FileNotFoundError:
            return not content or self._is_in_manifest(content)  # there is one as soon as there are rows
        except (*MISPLACED, ValueError, KeyError, TypeError, RecursionError):
            return False

    def _is_in_manifest(self, content: bytes) -> bool:
        """Whether a publication had begun, which put the digest of these rows into the draft's manifest."""
        try:
            recorded = read_manifest(self._folder, self._folder.name)["files"].get(ROWS)
        except StoreError:
            return False
        return bool(recorded == _digest(content))


def _is_part(content: bytes, whole: Mapping[str, Any], recorded: Mapping[str, Any]) -> bool:
    """Whether something was being added to what it begins with, and it has not become longer than that."""
    begun = recorded.get("added to")
    return bool(begun and len(content) < whole["bytes"] and _digest(content[: begun["bytes"]]) == begun)


def _digest(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": sha256(content).hexdigest()}


def published_rows(content: bytes, path: Path) -> list[Row]:
    """The rows in a file whose digest is right. Raises DamagedResult where they are none all the same."""
    try:
        lines = content.splitlines()
        records = json.loads(b"[%b]" % b",".join(lines))  # at once, which is faster than one by one
        if len(records) != len(lines):
            raise ValueError("a line is empty")
        _check_columns(records)
        return [Row(**record) for record in records]
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        problem = (
            "holds what is no row, with a digest that was made to match; remove the folder, then run the study again"
        )
        raise DamagedResult(f"{path}: {problem}") from None


def _check_columns(records: Sequence[Mapping[str, Any]]) -> None:
    for name, types in _TYPES.items():
        there = [value for record in records if (value := record.get(name)) is not None]
        if not types.issuperset(map(type, there)) or (name in NUMBERS and not all(map(isfinite, there))):
            raise ValueError(f"{name}: not what stands in such a column")


def _rows(content: bytes) -> tuple[list[Row], bool]:
    """Rows up to the first line that is not one, or could not be written again; and whether there is no such line."""
    rows: list[Row] = []
    for line in content.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            row = Row(**json.loads(line))
            _line(row)
        except (ValueError, TypeError, OverflowError, RecursionError, StepError):
            return rows, False
        rows.append(row)
    return rows, True


def _line(row: Row) -> str:
    return json.dumps(as_record(row.labelled(**_numbers(row))), allow_nan=False) + "\n"


def _numbers(row: Row) -> dict[str, float]:
    """What was measured. Raises StepError where that is not finite."""
    numbers = {name: float(number) for name in NUMBERS if (number := getattr(row, name)) is not None}
    for name, number in numbers.items():
        if not isfinite(number):
            raise StepError(f"{row.measure}: the {name} is {number}, and a row needs a finite number; {row}")
    return numbers
