"""Content addresses: the hash of a value, of a file, of a folder."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

IS_DIGEST = re.compile("[0-9a-f]{64}").fullmatch
"""Tells whether a text could be a digest, as `digest` writes it."""


def digest(value: Any) -> str:
    """SHA-256 (hex) of a JSON value in canonical form."""
    return text_digest(canonical(value))


def text_digest(text: str) -> str:
    """SHA-256 (hex) of an ASCII text."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode
"""A JSON value as text in canonical form: sorted keys, no spaces, ASCII; NaN is refused."""


def file_digest(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_digest(folder: Path, patterns: tuple[str, ...] = ("*",), more: Iterable[Path] = ()) -> str:
    """Hash of the places and contents of the files in `folder` that match `patterns`, and of `more` files in it."""
    matching = (file for pattern in patterns for file in folder.glob(pattern))
    files = sorted({file for file in (*matching, *more) if file.is_file()})
    return digest({file.relative_to(folder).as_posix(): file_digest(file) for file in files})
