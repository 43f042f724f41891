"""Claims of a store's folder: locks of the operating system, which die with their holders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG

from filelock import FileLock, Timeout

from babelscope.core.crash import crash_point
from babelscope.core.errors import StoreError
from babelscope.engine.disk import MISPLACED, explained, names_in

LOCK = ".lock"
"""What the name of a claim's file ends with."""


class Locks:
    """The claims in a folder. `make_way` sets aside what is in the place of a file."""

    def __init__(self, folder: Path, make_way: Callable[[Path, Callable[[int], bool]], None]):
        self._folder, self._make_way = folder, make_way
        self._held: dict[str, os.stat_result] = {}

    @contextmanager
    def hold(self, key: str) -> Iterator[bool]:
        """Hold the right to compute `key`; gives False at once if another process has it."""
        path = self._path(key)
        self._make_way(path, S_ISREG)
        # A soft lock would outlive a killed holder, so a file system without flock is an error.
        lock = FileLock(path, blocking=False, fallback_to_soft=False)
        with explained(path), suppress(Timeout):
            self._folder.stat()  # filelock would make it, where the store has been moved
            lock.acquire()
            self._held[key] = path.stat()
            crash_point("claimed")
        try:
            yield lock.is_locked
        finally:
            if lock.is_locked:
                # While the lock is held; filelock takes no lock on a file without a name.
                if not self._has_lost(key):
                    with suppress(PermissionError):  # Windows removes no open file; one that stays is nobody's claim
                        path.unlink(missing_ok=True)
                self._held.pop(key, None)
                crash_point("claim-removed")
                lock.release()

    def check(self, key: str) -> None:
        """Raises StoreError if a lock that we hold may be another's by now, as where the store has been moved."""
        if self._has_lost(key):
            place = self._folder.parent
            raise StoreError(f"{place}: moved, or its claims removed, while a step was computed; run again")

    def _has_lost(self, key: str) -> bool:
        """Whether a lock that we hold is not that of its file any more: somebody else may hold that one."""
        if key not in self._held:
            return False
        with suppress(*MISPLACED):
            return not os.path.samestat(self._held[key], self._path(key).stat())
        return True

    def is_held(self, key: str) -> bool:
        """Whether some process holds `key` now."""
        if not self._path(key).is_file():
            return False
        with self.hold(key) as free:
            return not free

    def known(self) -> set[str]:
        """Those that may be held: a holder that died has left its file."""
        return {name.removesuffix(LOCK) for name in names_in(self._folder)}

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{LOCK}"
