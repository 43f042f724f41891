"""Steps whose workers were lost: which of them are tried again, and when."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from babelscope.engine.events import TRIES

Verdict = Literal["again", "alone", "never"]
"""When a step is tried again: as any that is ready, when nothing else runs, or not at all."""


class Retries:
    """How often each step has been lost since it last got further, and which of them must be alone."""

    def __init__(self) -> None:
        self.put_off: list[str] = []
        """Those that wait until nothing else runs."""
        self.alone: str | None = None
        """The one of them that runs."""
        self._furthest: dict[str, int] = {}
        """How far each step has got in any attempt."""
        self._losses: Counter[str] = Counter()

    def progressed(self, key: str, done: int) -> None:
        """A step has got so far."""
        if done > self._furthest.get(key, 0):
            self._furthest[key] = done
            self._losses.pop(key, None)

    def lost(self, key: str, times: int) -> Verdict:
        """A step has been lost so many times; one that is to be alone is put off."""
        was_lost_before = key in self._losses
        self._losses[key] += times
        if key == self.alone and was_lost_before:
            return "never"
        if self._losses[key] < TRIES:
            return "again"
        self.put_off.append(key)
        return "alone"
