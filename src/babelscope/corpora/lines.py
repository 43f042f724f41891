"""The lines of a text file, numbered, plain or gzip-compressed (told apart by content, not by name)."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from babelscope.core import outside
from babelscope.core.errors import DataError, InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LONGEST_LINE = 1 << 20
"""In bytes. A longer line is not language data, and reading it could fill the memory."""
UNPACKED, RATIO = 1 << 22, 100
"""What comes out of a gzip file is so many bytes at most, or so many times what is packed; text has 3 to 20 times."""
UNLIKE_TEXT = f"becomes more than {RATIO} times as large when it is unpacked, as no text does"


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
        with outside.reading(path), opened(path) as stream:
            for number, raw in enumerate(iter(lambda: stream.readline(longest + 1), b""), start=1):
                yield Line(number, _decoded(raw, path, number, longest))
    except _DamagedError as error:
        raise DataError(path, number + 1, error.problem) from None


class LineError(Exception):
    """What is wrong, and in which line of a file; `at_lines` adds the path."""

    def __init__(self, line: int, problem: str):
        self.line, self.problem = line, problem if len(problem) < 400 else f"{problem[:400]} ..."


CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
"""Not \\x80 to \\x9f, the usual trace of a wrong conversion in real text; nor tabs, which separate columns."""


def check_no_control(line: Line) -> None:
    """Refuse a line that holds a control character (`LineError`)."""
    if match := CONTROL.search(line.text):
        hint = "; are lines ended by \\r alone?" if match[0] == "\r" else ""
        problem = f"control character {match[0]!r} at position {match.start() + 1}{hint}; remove it, or convert"
        raise LineError(line.number, f"{problem} the file to UTF-8 text")


@contextmanager
def at_lines(path: Path) -> Iterator[None]:
    """Say of which file a `LineError` is: it becomes a `DataError`."""
    try:
        yield
    except LineError as fault:
        raise DataError(path, fault.line, fault.problem) from None


def the_one(files: Sequence[Path]) -> Path | None:
    """The first of files that all hold the same, as a file and its gzip may; None where there is none.

    Raises:
        InputError: they differ, so that nobody can know which is meant.
    """
    if len(files) > 1 and len(set(map(content_digest, files))) > 1:
        names = ", ".join(file.name for file in files)
        raise InputError(f"{files[0].parent}: of {names} one alone can be read, and they differ: leave one")
    return files[0] if files else None


def plain_or_gzip(path: Path) -> Path | None:
    """The file, or the one of that name with `.gz`; None where there is neither. Raises as `the_one` does."""
    return the_one([file for file in (path, path.with_name(f"{path.name}.gz")) if file.is_file()])


def content_digest(path: Path) -> str:
    """SHA-256 (hex) of a file's content after decompression: a file and its gzip have the same digest.

    Raises `DataError` if the file cannot be read or is damaged gzip data.
    """
    digest = hashlib.sha256()
    try:
        with outside.reading(path), opened(path) as stream:
            for part in iter(lambda: stream.read(LONGEST_LINE), b""):
                digest.update(part)
    except _DamagedError:
        deque(numbered_lines(path), maxlen=0)  # meets the fault again, and names its line
        raise
    return digest.hexdigest()


CHANGED = "the file has changed since the study was planned; run the study again"


def check_unchanged(files: Sequence[Path], digests: Sequence[str]) -> None:
    """Refuse files that no longer have the contents that a study was planned with.

    Args:
        files: to read.
        digests: of each its `content_digest` at that time.

    Raises:
        DataError: names the first that has changed; or as of `content_digest`.
    """
    for file, sha256 in zip(files, digests, strict=True):
        if content_digest(file) != sha256:
            raise DataError(file, None, CHANGED)


def opened(path: Path) -> BinaryIO:
    """The bytes of a file after decompression, to be read and closed.

    Opening and reading raise `DataError` where it is no file, or damaged gzip data.
    """
    stream = outside.opened(path)
    compressed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    return cast(BinaryIO, io.BufferedReader(_Unpacked(path, stream), LONGEST_LINE)) if compressed else stream


class _DamagedError(DataError):
    """Gzip data are damaged, in a line that is not known here."""


class _Unpacked(io.RawIOBase):
    """What a gzip file holds, in large parts, of which each is refused that text cannot have been packed into."""

    def __init__(self, path: Path, packed: BinaryIO):
        self._path, self._length = path, 0
        self._packed, self._unpacked = packed, gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """The next bytes; `DataError` where there are too many, or none that were packed."""
        room = memoryview(buffer)
        try:
            part = self._unpacked.read1(len(room))  # what is before the damage, first
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            problem = f"the gzip data is damaged or cut short ({error}); get the file again"
            raise _DamagedError(self._path, None, problem) from None
        self._length += len(part)
        if self._length > max(UNPACKED, RATIO * self._packed.tell()):
            advice = f"if it is to be read, unpack it: gunzip {quote(str(self._path))}"
            raise DataError(self._path, None, f"{UNLIKE_TEXT}; {advice}")
        room[: len(part)] = part
        return len(part)

    def close(self) -> None:
        """Close the file, too."""
        self._packed.close()
        super().close()


def _decoded(raw: bytes, path: Path, number: int, longest: int) -> str:
    if len(raw) > longest:
        raise DataError(path, number, f"a line of more than {longest:,} bytes is not language data")
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8: byte 0x{raw[error.start]:02X} at position {error.start + 1}; convert it, e.g. with iconv"
        raise DataError(path, number, problem) from None
