"""The index of a store: whose rows were verified, and what the system said of their files then.

It saves a run from reading again what has not changed since, and is believed in nothing else: whoever reads a result
verifies it. Where the index is missing, damaged, out of date or of another store, results are verified as if there were
none, and it is written anew; a result that is found damaged in spite of it removes it. It is one small file, written
whole and moved into its place, which any file system can do.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import DamagedResult
from babelscope.engine.disk import append_text, names_in, read_file, write_text
from babelscope.engine.journal import ROWS
from babelscope.engine.manifest import MANIFEST

INDEX, FORMAT = "babelscope-index.json", 1
DOUBTED = "babelscope-doubted.txt"
"""The keys of results that somebody has found to be damaged."""
SETTLED = 2_000_000_000
"""Nanoseconds for which files must have rested when they are verified: what changes within one tick of the clock that
stamps files has the same stamp, and none ticks more slowly."""


class Seen(NamedTuple):
    """What the system says of the files of a result that a run verifies."""

    stamp: str
    """A digest of sizes, times and places on the disk."""
    changed: int
    """Nanoseconds: when the last of them was."""


class Index:
    """The results of a store that were verified, by their keys. What cannot be read or written is done without."""

    def __init__(self, folder: Path):
        self._path, self._began = folder / INDEX, time.monotonic_ns()
        self._verified = _read(self._path)
        self._noted: dict[str, Seen] = {}

    def has(self, key: str, seen: Seen) -> bool:
        """Whether the rows of a result were verified when its files were as they are seen now."""
        return self._verified.get(key) == seen.stamp

    def note(self, key: str, seen: Seen) -> None:
        """The rows were verified after their files were seen."""
        self._noted[key] = seen

    def save(self) -> None:
        """Keep what was noted, but for files that had changed just before."""
        if not self._noted:
            return
        unfinished = self._path.with_name(f"{INDEX}.{os.getpid()}")
        with suppress(OSError):
            write_text(unfinished, "")
            # By the clock of the file system, which may be another machine's.
            began = unfinished.stat().st_mtime_ns - (time.monotonic_ns() - self._began)
            settled = {key: seen.stamp for key, seen in self._noted.items() if seen.changed < began - SETTLED}
            if settled:
                verified = self._of_results_there() | settled
                write_text(unfinished, json.dumps({"format": FORMAT, "verified": verified}) + "\n")
                unfinished.replace(self._path)
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)

    def _of_results_there(self) -> dict[str, str]:
        """What was verified before of results that have not gone since."""
        results = self._path.with_name("results")
        there = {key for shelf in names_in(results) for key in names_in(results / shelf)}
        return {key: stamp for key, stamp in self._verified.items() if key in there}


def look_at(result: Path) -> Seen:
    """What the system says now of the files that rows are read from, without reading them."""
    told = [_told(f"{result}/{name}") for name in (MANIFEST, ROWS)]
    stamp = blake2b(repr(told).encode("ascii"), digest_size=16).hexdigest()
    return Seen(stamp, max(max(modified, changed) for _, _, modified, changed in told))


def _told(path: str) -> tuple[int, int, int, int]:
    """Inode, bytes, and nanoseconds at which content and inode were changed; naught of what is not there."""
    try:
        status = os.lstat(path)
    except OSError:
        return 0, 0, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@contextmanager
def doubted(folder: Path, key: str) -> Iterator[None]:
    """Remove the index of the store in a folder where a result turns out to be damaged, and leave its key there.

    A run reads no files but rows of what is there; of a result whose key was left it reads all.
    """
    try:
        yield
    except DamagedResult:
        with suppress(OSError):
            (folder / INDEX).unlink()
        with suppress(OSError):
            append_text(folder / DOUBTED, f"{key}\n")
        raise


def doubted_in(folder: Path) -> set[str]:
    """The keys that were left in the folder of a store."""
    with suppress(OSError, ValueError):
        return {*read_file(folder / DOUBTED).decode().split()}
    return set()


def forget_doubts(folder: Path, keys: set[str]) -> None:
    """Remove keys of results that were read."""
    left = doubted_in(folder) - keys
    with suppress(OSError):
        if left:
            write_text(folder / DOUBTED, "".join(f"{key}\n" for key in sorted(left)))
        else:
            (folder / DOUBTED).unlink(missing_ok=True)


def _read(path: Path) -> dict[str, str]:
    with suppress(OSError, ValueError, RecursionError):
        match json.loads(read_file(path)):
            case {"format": version, "verified": dict(verified)} if version == FORMAT:
                return {key: stamp for key, stamp in verified.items() if isinstance(stamp, str)}
    return {}
