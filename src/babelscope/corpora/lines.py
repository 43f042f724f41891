"""The lines of a text file, numbered, plain or gzip-compressed (told apart by content, not by name)."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from babelscope.core.errors import DataError

LONGEST_LINE = 1 << 20
"""In bytes. A longer line is not language data, and reading it could fill the memory."""


class Line(NamedTuple):
    """A line without its end, and its number in the file, from 1."""

    number: int
    text: str


def numbered_lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[Line]:
    """The lines of a UTF-8 file, one at a time.

    Raises `DataError`, with the line where there is one, if the file cannot be read, is damaged gzip data, is not
    UTF-8, or has a line above `longest` bytes.
    """
    number = 0
    try:
        with opened(path) as stream:
            for number, raw in enumerate(iter(lambda: stream.readline(longest + 1), b""), start=1):
                yield Line(number, _decoded(raw, path, number, longest))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        problem = f"the gzip data is damaged or cut short ({error}); get the file again"
        raise DataError(path, number + 1, problem) from error
    except OSError as error:
        raise DataError(path, None, f"cannot be read: {error.strerror or error}") from error


def content_digest(path: Path) -> str:
    """SHA-256 (hex) of a file's content after decompression: a file and its gzip have the same digest.

    Raises `DataError` if the file cannot be read or is damaged gzip data.
    """
    digest = hashlib.sha256()
    try:
        with opened(path) as stream:
            for part in iter(lambda: stream.read(LONGEST_LINE), b""):
                digest.update(part)
    except (EOFError, zlib.error, OSError):
        deque(numbered_lines(path), maxlen=0)  # meets the fault again, and names its line
        raise
    return digest.hexdigest()


def opened(path: Path) -> BinaryIO:
    """The bytes of a file after decompression, to be read and closed."""
    with path.open("rb") as stream:
        compressed = stream.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path)) if compressed else path.open("rb")


def _decoded(raw: bytes, path: Path, number: int, longest: int) -> str:
    if len(raw) > longest:
        raise DataError(path, number, f"a line of more than {longest:,} bytes is not language data")
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8: byte 0x{raw[error.start]:02X} at position {error.start + 1}; convert it, e.g. with iconv"
        raise DataError(path, number, problem) from None
