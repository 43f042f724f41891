"""The folder of this machine for a remote store: what was computed or read here, within a limit."""

from __future__ import annotations

import os
import platform
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from babelscope.core.hashing import digest
from babelscope.core.outside import given_path, positive_setting
from babelscope.corpora.cache import PLACE, user_cache
from babelscope.engine.disk import bytes_in, explained

LIMIT = "BABELSCOPE_CACHE_LIMIT"
"""The environment variable of how many gigabytes the results in each folder may take."""
GIGABYTES = 50.0
RESTED = 6 * 3600.0
"""Seconds since its last use after which a result can go: a step may still read one that it has asked for before."""
MACHINE = "machine"


class Cache:
    """A folder with a limit to its results."""

    def __init__(self, folder: Path, limit: float = GIGABYTES * 1e9):
        self.folder, self._limit = folder, limit
        self._uncounted = limit  # what there is already

    @classmethod
    def of(cls, address: str) -> Cache:
        """That of a remote store. The machine's name is in its path, since home folders may be shared."""
        place = given_path(os.environ.get(PLACE) or user_cache() / "stores").absolute()
        limit = positive_setting(LIMIT, GIGABYTES, "gigabytes")
        title = re.sub(r"\W+", "-", address).strip("-")[:60]
        return cls(place / platform.node() / f"{title}-{digest(address)[:8]}", limit * 1e9)

    @property
    def machine(self) -> str:
        """What this folder is called among all machines; made up when it is first asked for."""
        path = self.folder.with_name(f"{self.folder.name}.{MACHINE}")
        with explained(path):
            if not path.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                unfinished = path.with_name(f"{path.name}.{uuid4().hex}")
                unfinished.write_text(uuid4().hex, encoding="ascii")
                with suppress(FileExistsError):
                    path.hardlink_to(unfinished)
                unfinished.unlink()
            return path.read_text(encoding="ascii")

    def note_use(self, result: Path) -> None:
        """A result is read now."""
        with suppress(OSError):
            os.utime(result)

    def make_room(self, more: int) -> None:
        """Remove the results that were not used for longest, down to the limit, now that there are `more` bytes.

        They can be fetched again. What there is is counted only where it may have grown by a hundredth of the limit.
        """
        self._uncounted += more
        if self._uncounted < self._limit / 100:
            return
        self._uncounted = 0
        sizes, uses = dict[Path, int](), list[tuple[float, Path]]()
        for path in self.folder.glob("results/*/*"):
            with suppress(FileNotFoundError):  # another process makes room, too
                uses.append((path.stat().st_mtime, path))
                sizes[path] = bytes_in(path)
        excess = sum(sizes.values()) - self._limit
        for used, path in sorted(uses):
            if excess <= 0 or time.time() - used < RESTED:
                return
            aside = self.folder / "damaged" / f"{path.name}.{uuid4().hex[:8]}"
            with suppress(OSError):
                path.rename(aside)
                shutil.rmtree(aside)
                excess -= sizes[path]
