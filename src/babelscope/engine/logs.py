"""What steps print, and why they failed if they did: a file for each in a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from babelscope.core.crash import crash_point
from babelscope.engine.disk import append_text, explained, names_in

FOLDER, ENDED, RUNNING = "logs", ".txt", ".running"


class Logs:
    """Those of a store's folder, which sets aside what is in the place of one."""

    def __init__(self, folder: Path, make_way: Callable[[Path, Callable[[int], bool]], None]):
        self._folder = folder / FOLDER
        self._make_way = make_way

    def of(self, key: str) -> Path:
        """What a step that has ended has printed, and why it failed if it did."""
        return self._folder / f"{key}{ENDED}"

    def running(self, key: str) -> Path:
        """The same of one that runs; what was interrupted leaves no other."""
        return self._folder / f"{key}{RUNNING}"

    def left_by(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys whose steps have left a log, of which they failed if they have no result."""
        return {name.removesuffix(ENDED) for name in names_in(self._folder)}.intersection(keys)

    def begin(self, key: str) -> Path:
        """Where a step prints while it runs; nothing is there, nor under the name of what has ended."""
        for path in (self.of(key), self.running(key)):
            self._make_way(path, S_ISREG)
            with explained(path):
                path.unlink(missing_ok=True)
        crash_point("log-begun")
        return self.running(key)

    def bury(self, key: str, cause: str) -> str:
        """Say in the log of a step why it has no process any more; gives what it says, with where the output is."""
        log = self.of(key)
        with suppress(OSError):
            self.running(key).replace(log)
        output = f"; what it printed is in {log}" if log.exists() and log.stat().st_size else ""
        message = f"{cause}{output}; run again to go on"
        with suppress(OSError):
            append_text(log, f"{message}\n")
        return message
