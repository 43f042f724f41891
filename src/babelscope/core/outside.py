"""Paths, files and settings of users: the one place where what the system refuses becomes an error of ours.

A path that `given_path` gives can be asked whether it is there; a file is read by `opened`, `read_text` or `read_json`
and written inside `writing`. None of them raises an `OSError`.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

from babelscope.core.errors import DataError, InputError

LONGEST_NAME = 255
"""Bytes of the name of a file or folder, at most, on all common file systems."""
PART = 1 << 20
"""Bytes that are read at once."""
LARGEST_TEXT = 1 << 26
"""Bytes of a file that is read as a whole, at most, unless its reader says otherwise."""


def given_path(given: str | Path) -> Path:
    """A path as users write it, with `~` for a home folder; there need be nothing.

    Raises:
        InputError: there can be no such path, or what is there may not be looked at.
    """
    if not isinstance(given, str | os.PathLike):  # as may come from Python
        raise InputError(f"{given!r:.100}: no path: give it as text or as a Path")
    text = str(given)
    try:
        text.encode()
        path = Path(text).expanduser()
        if longest := next((part for part in path.parts if len(part.encode()) > LONGEST_NAME), ""):
            raise InputError(f"{_shown(longest)}: cannot be read: File name too long")
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise InputError(f"{_shown(text)}: cannot be read: {error.strerror}") from None
    except UnicodeError:
        raise InputError(f"{_shown(text)}: no path: it is not UTF-8") from None
    except RuntimeError:  # of expanduser
        raise InputError(f"{_shown(text)}: no path: there is no such user as {Path(text).parts[0]!r}") from None
    except ValueError:
        raise InputError(f"{_shown(text)}: no path: it holds a NUL") from None
    return path


def positive_setting(variable: str, usual: float, unit: str) -> float:
    """The number that a variable of the environment has, or the usual one.

    Raises:
        InputError: it is no number above 0.
    """
    given = os.environ.get(variable)
    try:
        number = float(given) if given else usual
    except ValueError:
        number = 0.0
    if not (number > 0 and math.isfinite(number)):
        raise InputError(f"{variable}={given}: give a number of {unit} above 0, such as {usual:g}")
    return number


def opened(path: Path) -> BinaryIO:
    """The bytes of a regular file, to be read inside `reading` and closed.

    Raises:
        DataError: it is something else (a folder, a pipe, a device), or cannot be opened.
    """
    with reading(path):
        if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):  # opening says that of a folder
            raise DataError(path, None, "cannot be read: it is no file, but a pipe, a device or a socket")
        return path.open("rb")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system refuses into a `DataError` of the file."""
    try:
        yield
    except OSError as error:
        raise DataError(path, None, f"cannot be read: {error.strerror or error}") from None


def read_text(path: Path, largest: int = LARGEST_TEXT) -> str:
    """All of a file in UTF-8.

    Raises:
        DataError: as of `opened`; it is larger than `largest` bytes, or not UTF-8.
    """
    with reading(path), opened(path) as stream:
        parts = iter(partial(stream.read, PART), b"")  # since reading `largest` bytes takes memory for as many
        content = b"".join(islice(parts, largest // PART + 1))
    if len(content) > largest:
        raise DataError(path, None, f"more than {largest:,} bytes, which is too much for such a file")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(path, None, f"not UTF-8 at byte {error.start}; save the file as UTF-8") from None


def read_json(path: Path, largest: int = LARGEST_TEXT) -> Any:
    """The value in a file of JSON, of at most so many bytes.

    Raises:
        DataError: as of `read_text`; it is not JSON.
    """
    return parse_json(read_text(path, largest), path)


def parse_json(text: str, path: Path, line: int | None = None) -> Any:
    """The value in a line, or all, of a file.

    Raises:
        DataError: it is not JSON, is nested deeper than any data are, or has a key with two values.
    """
    try:
        value = json.loads(text, object_pairs_hook=_each_once)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is JSON, but no text
        return value
    except ValueError as error:
        raise DataError(path, line, f"not JSON ({error})") from None
    except RecursionError:
        raise DataError(path, line, "not JSON that can be read (nested too deep)") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these keys and values. Of two values of one key readers of JSON take the first or the last."""
    read: dict[str, Any] = {}
    for key, value in pairs:
        if key in read and read[key] != value:
            raise ValueError(f"the key {key!r:.100} is there twice, with two values")
        read[key] = value
    return read


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make the folder that a file or a folder is to be in; turn what the system refuses into an `InputError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise _unwritten(path, error.strerror or str(error)) from None
    except Exception as error:
        if told := re.search(r"\(os error (\d+)\)$", str(error)):  # as safetensors and tokenizers say it
            raise _unwritten(path, os.strerror(int(told[1]))) from None
        raise


def write_text(path: Path, text: str) -> None:
    """Write a file in UTF-8, in a folder that is made if need be.

    Raises:
        InputError: it cannot be written.
    """
    with writing(path):
        path.write_text(text, encoding="utf-8", newline="\n")


def _unwritten(path: Path, problem: str) -> InputError:
    return InputError(f"{_shown(str(path))}: cannot be written: {problem}; choose another place")


@contextmanager
def silent_where_it_fails() -> Iterator[None]:
    """Keep what libraries print on stderr by themselves, and show it unless they fail: an error of ours says it then.

    A panic of Rust is printed before it becomes an exception, whatever is done with that.
    """
    printed = _temporary_file() if sys.__stderr__ else None  # its number may be any file's where it is closed
    if printed is None:
        yield
        return
    with printed:
        shown = os.dup(2)
        os.dup2(printed.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(shown, 2)
            os.close(shown)
        printed.seek(0)
        os.write(2, printed.read())


def _temporary_file() -> IO[bytes] | None:
    """One without a name; None where there is no room for any."""
    try:
        return TemporaryFile()
    except OSError:
        return None


def new_path(given: str | Path) -> Path:
    """A path that is to be written, where nothing is yet and something can be; nothing is written.

    Raises:
        InputError: as of `writable_path`; or there is something.
    """
    path = writable_path(given)
    if path.exists() or path.is_symlink():
        raise InputError(f"{path}: already there; give a name that does not exist yet")
    return path


def writable_path(given: str | Path) -> Path:
    """A path that is to be written: itself, or the folder that it would be made in, must allow it; nothing is written.

    Raises:
        InputError: as of `given_path`; or what there is of it cannot be written to.
    """
    path = given_path(given)
    there = next(parent for parent in (path.resolve(), *path.resolve().parents) if parent.exists())
    if there != path.resolve() and not there.is_dir():
        raise InputError(f"{path}: cannot be written: {there} is a file, so nothing can be in it; choose another place")
    if not (there.is_dir() or there.is_file()):  # what waits for a reader would be waited for
        raise InputError(f"{path}: cannot be written: it is no file, but a pipe, a device or a socket; choose another")
    if not os.access(there, os.W_OK):
        raise InputError(f"{path}: cannot be written: {there} cannot be written to; choose another place")
    return path


def check_suffix(path: Path, allowed: tuple[str, ...]) -> None:
    """Refuse a file of another kind (`InputError`)."""
    if path.suffix not in allowed:
        given = f"the suffix {path.suffix}" if path.suffix else "no suffix"
        raise InputError(f"{path}: {given}; allowed are {' and '.join(allowed)}")


def _shown(text: str) -> str:
    """Text of any kind in a message."""
    text = text if len(text) <= 200 else f"{text[:90]} ... {text[-90:]}"
    return text if text.isprintable() else ascii(text)
