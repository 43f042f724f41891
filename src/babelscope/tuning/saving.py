"""When a run's checkpoint is written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from babelscope.core.crash import crashes
from babelscope.core.step import Interrupted


class Saving:
    """Writes a run's checkpoint every so many seconds, and when the run is interrupted."""

    def __init__(self, write: Callable[[], None], seconds: float):
        self._write, self._seconds, self._written_at = write, seconds, time.monotonic()

    def if_due(self) -> None:
        """After a step; where a test lets the process crash, after every step."""
        if time.monotonic() - self._written_at >= self._seconds or crashes():
            self._write()
            self._written_at = time.monotonic()

    @contextmanager
    def if_interrupted(self) -> Iterator[None]:
        """What is done inside may raise `Interrupted`."""
        try:
            yield
        except Interrupted:
            self._write()
            raise
