"""How far running steps are, where other processes can read it: lines in `logs/KEY.course` of the store.

The run writes them from what its workers tell. They are for people who look on; no result rests on them.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import BabelscopeError
from babelscope.engine.disk import append_text
from babelscope.engine.events import Event, Finished, Found, Progressed
from babelscope.engine.store import Store

INTERVAL = 1.0
"""Seconds between two lines of a step."""
LINES = 200
"""Of a step that is not interrupted, at most."""


class Point(NamedTuple):
    """`done` of `total` units of a step, with numbers such as the loss."""

    done: int
    total: int
    numbers: dict[str, float]


class Courses:
    """Keeps how far the steps of a run are; forgets it when their rows are in the store."""

    def __init__(self, store: Store):
        self._store = store
        self._last: dict[str, tuple[float, int]] = {}

    def __call__(self, event: Event) -> None:
        """Note one event. A disk that is full is the workers' to tell."""
        with suppress(OSError, BabelscopeError):
            match event:
                case Progressed(key, done, total, numbers) if self._is_due(key, done, total):
                    self._last[key] = time.monotonic(), done
                    append_text(course_file(self._store, key), f"{json.dumps([done, total, numbers])}\n")
                case Finished(key) | Found(key):
                    course_file(self._store, key).unlink(missing_ok=True)

    def _is_due(self, key: str, done: int, total: int) -> bool:
        told, before = self._last.get(key, (-INTERVAL, -total))
        return time.monotonic() - told >= INTERVAL and done - before >= total / LINES


def course_file(store: Store, key: str) -> Path:
    """Where the lines of a step are."""
    return store.logs.of(key).with_suffix(".course")


def course_of(store: Store, key: str) -> list[Point]:
    """How a step that has not finished went so far, in order; what was done twice is there once, as it was last."""
    points: dict[int, Point] = {}
    with suppress(OSError, ValueError):
        for line in course_file(store, key).read_text(encoding="utf-8").splitlines():
            # A line that is cut short, or damaged.
            with suppress(ValueError, TypeError, AttributeError, OverflowError, RecursionError):
                done, total, numbers = json.loads(line)
                known = {name: float(number) for name, number in numbers.items() if isfinite(float(number))}
                points[int(done)] = Point(int(done), int(total), known)
    return [points[done] for done in sorted(points)]
