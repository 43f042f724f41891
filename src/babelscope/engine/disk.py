"""Files of a store on the disk: flushed, compared with their checksums, and failures in words."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from shutil import Error
from stat import S_ISDIR, S_ISREG
from typing import Any
from uuid import uuid4

from babelscope.core.errors import DamagedResult, StoreError
from babelscope.core.hashing import file_digest

WINDOWS = os.name == "nt"
MISPLACED = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
"""What the system says where a file is gone, or something else is in its place."""
COPY = ".copy"
"""What the name of a draft ends with that is a copy of a result, or of another machine's draft."""


def inside(folder: Path, name: str) -> Path:
    """The path in a folder that another machine has given. Raises DamagedResult if it leads out of the folder."""
    path = folder / name
    if not Path(os.path.normpath(path)).is_relative_to(os.path.normpath(folder)):
        raise damaged(path, "leads out of its folder")
    return path


def names_in(folder: Path, are_folders: bool = False) -> list[str]:
    """The names in a folder, or those of the folders in it; none where there is no folder."""
    with explained(folder), suppress(*MISPLACED), os.scandir(folder) as entries:
        return [entry.name for entry in entries if not are_folders or entry.is_dir()]
    return []


def bytes_in(path: Path) -> int:
    """What a file, or all in a folder, takes; another process may write or remove them."""
    return sum(size for _, size in _file_size(path)) or sum(size for _, size in sizes_in(path))


def sizes_in(folder: Path) -> Iterator[tuple[Path, int]]:
    """All files in a folder, and the bytes of each; another process may write or remove them, and folders."""

    def go_on(error: OSError) -> None:
        if not isinstance(error, MISPLACED):
            raise error

    for parent, _, names in os.walk(folder, onerror=go_on):
        for name in names:
            yield from _file_size(Path(parent, name))


def _file_size(path: Path) -> Iterator[tuple[Path, int]]:
    """A file, if it is one, and its bytes."""
    with suppress(*MISPLACED):
        status = path.lstat()
        if S_ISREG(status.st_mode):
            yield path, status.st_size


def read_file(path: Path) -> bytes:
    """The bytes of a file. Raises FileNotFoundError for a pipe or a device, which may have no end."""
    refuse_special(path)
    return path.read_bytes()


def refuse_special(path: Path) -> None:
    """Raises FileNotFoundError if there is a pipe, a device or a socket, or a link to one."""
    mode = path.stat().st_mode
    if not (S_ISREG(mode) or S_ISDIR(mode)):  # reading says that of a folder
        raise FileNotFoundError(errno.ENOENT, "no file, but a pipe, a device or a socket", str(path))


def write_text(path: Path, text: str) -> None:
    """Write a new file in place of the one that is there; where that is a link, it is not followed."""
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:  # the same bytes on all systems
        file.write(text)


def replace_text(path: Path, text: str) -> None:
    """Write a file as a whole, and move it in place of the one that is there."""
    unfinished = path.with_name(f"{path.name}.{uuid4().hex[:8]}")  # processes of two machines can have one number
    write_text(unfinished, text)
    sync(unfinished)
    unfinished.replace(path)


def append_text(path: Path, text: str) -> None:
    """Add to a file, which may be new, and flush it to the disk; a link is not followed."""
    with open(path, "a", encoding="utf-8", newline="\n", opener=_without_links) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)  # Windows has none


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON and flush it to the disk."""
    write_text(path, as_json(value))
    sync(path)


def as_json(value: Any) -> str:
    """As the files of a store have it."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk. Windows opens no folder, and flushes what may be written."""
    if WINDOWS and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move_folder(whole: Path, target: Path) -> None:
    """Move a folder to its place, unless there is one with something in it: the same, published meanwhile."""
    with suppress(OSError):
        target.rmdir()  # an empty one, onto which Windows moves nothing
    try:
        whole.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    sync(target.parent)


def verify(path: Path, recorded: Mapping[str, Any], read: bool = False) -> bytes:
    """Compare a file with its recorded checksum; with `read`, return the very bytes that were compared."""
    with explained(path):
        try:
            refuse_special(path)
            content = path.read_bytes() if read else b""
            digest = sha256(content).hexdigest() if read else file_digest(path)
        except MISPLACED:
            raise damaged(path) from None
    if digest != recorded["sha256"]:
        raise damaged(path)
    return content


def damaged(path: Path | str, problem: str = "does not match its recorded checksum") -> DamagedResult:
    """The error for a file that is not what was published."""
    return DamagedResult(f"{path}: {problem}; run the study again: the result is set aside and computed anew")


ROOM = "free some space, then run again; it goes on where it stopped"
_ADVICE = {
    errno.ENOSPC: f"the disk is full: {ROOM}",
    errno.EDQUOT: f"your disk quota is used up: {ROOM}",
    errno.EFBIG: "no file may be so large here: raise the limit (ulimit -f), then run again",
    errno.EACCES: "no permission: give --store a folder that you may write to",
    errno.EPERM: "no permission: give --store a folder that you may write to",
    errno.EROFS: "a read-only file system: give --store a folder that you may write to",
    errno.ENOENT: "was the store moved or removed? Give --store the folder where it is, and run again",
    errno.ENOTDIR: "a file is where the store needs a folder: move it away, or give --store another folder",
    errno.ELOOP: "a symbolic link, which is not followed in writing: remove it, then run again",
    **dict.fromkeys(
        (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP),
        "this file system has no locks: give --store a folder on a local disk, or file://FOLDER, which needs none",
    ),
}


def room_advice(error: BaseException | None) -> str | None:
    """What to do where an error, or what has caused it, is that there is no room on the disk; None where it is not."""
    while error:
        told = re.search(r"\(os error (\d+)\)", str(error))  # safetensors has no other way to say it
        number = error.errno if isinstance(error, OSError) else int(told[1]) if told else None
        if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return _ADVICE[number]
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a StoreError with advice."""
    try:
        yield
    except OSError as raised:
        error = _first_of(raised)
        advice = _ADVICE.get(error.errno or 0, "see that the folder can be used, or give --store another one")
        raise StoreError(f"{error.filename or path}: {error.strerror or error}; {advice}") from error


def _first_of(error: OSError) -> OSError:
    """Of what a copy of a folder has raised, that of its first file; else the error itself."""
    if not isinstance(error, Error):
        return error
    _, target, problem = error.args[0][0]
    told = re.match(r"\[Errno (\d+)\]", problem)
    return OSError(int(told[1]), os.strerror(int(told[1])), target) if told else OSError(problem)
