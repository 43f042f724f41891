"""When a run's checkpoint is written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from babelscope.core.crash import crashes
from babelscope.core.step import Interrupted

SHARE = 0.05
"""Of a run, what writing checkpoints may take."""


class Saving:
    """Writes a run's checkpoint every so many seconds, and when the run is interrupted.

    It is less often where writing would take more than `SHARE` of a run, as it would of a large encoder's.
    """

    def __init__(self, write: Callable[[], None], seconds: float):
        self._write, self._seconds, self._due = write, seconds, time.monotonic() + seconds

    def if_due(self) -> None:
        """After a step; where a test lets the process crash, after every step."""
        began = time.monotonic()
        if began >= self._due or crashes():
            self._write()
            ended = time.monotonic()
            self._due = ended + (self._seconds and max(self._seconds, (ended - began) / SHARE))

    @contextmanager
    def if_interrupted(self) -> Iterator[None]:
        """What is done inside may raise `Interrupted`."""
        try:
            yield
        except Interrupted:
            self._write()
            raise
