"""Claims where locks do not reach: an object that its holder keeps changing. One that no longer changes is taken over.

A claim of a step is an object `claims/KEY/N` that was created where there was none; of several numbers the highest
counts, so that only one of those who find a holder dead becomes the next. Nobody compares clocks: whoever waits
measures with his own for how long an object has stayed as it is. A holder that was paused, and not dead, may thus wake
and compute beside the next one. That costs time alone, since what it publishes is published where nothing is.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from uuid import uuid4

from babelscope.core.errors import StoreError
from babelscope.core.outside import positive_setting
from babelscope.engine.sharing.objects import Objects

CLAIMS = "claims"
VARIABLE = "BABELSCOPE_LAPSE"
"""Of the environment: seconds without a sign of life after which a holder counts as dead; for all machines the same."""
LAPSE = 60.0
SHARE = 6
"""Signs of life in that time."""


class Lease:
    """The claim of one holder."""

    def __init__(self, objects: Objects, key: str, number: int, machine: str):
        self._objects, self._folder, self._number = objects, f"{CLAIMS}/{key}", number
        self._holder, self._machine, self._beats = uuid4().hex, machine, 0
        self.is_lost = False
        """Whether another one holds it now."""

    def take(self) -> bool:
        """Create the object; False if somebody was first."""
        return self._objects.create(self._name, self._content)

    def beat(self) -> None:
        """Give a sign of life, unless the claim is lost."""
        self.is_lost = self.is_lost or not self._is_mine()
        if not self.is_lost:
            self._beats += 1
            self._objects.write(self._name, self._content)

    def release(self) -> None:
        """Give it back: the numbers before it first, so that it counts until the last moment."""
        if self._is_mine():
            for number in sorted(_numbers(self._objects, self._folder)):
                if number <= self._number:
                    self._objects.remove(f"{self._folder}/{number}")

    @contextmanager
    def beating(self, seconds: float) -> Iterator[None]:
        """Give signs of life every so many seconds, in a thread of its own, then release it."""
        done = Event()

        def go_on() -> None:
            while not done.wait(seconds):
                try:
                    self.beat()
                except StoreError:  # the next one may arrive
                    continue

        thread = Thread(target=go_on, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            with suppress(StoreError):  # it lapses by itself
                self.release()

    @property
    def _name(self) -> str:
        return f"{self._folder}/{self._number}"

    @property
    def _content(self) -> bytes:
        return json.dumps({"holder": self._holder, "machine": self._machine, "beats": self._beats}).encode()

    def _is_mine(self) -> bool:
        if _highest(self._objects, self._folder) != self._number:
            return False
        return _holder(self._objects.read(self._name)).get("holder") == self._holder


class Leases:
    """The claims at a place, as this process sees them. `machine` names what shares locks of the system."""

    def __init__(self, objects: Objects, machine: str, clock: Callable[[], float] = time.monotonic):
        self._objects, self._machine, self._clock = objects, machine, clock
        self._lapse = positive_setting(VARIABLE, LAPSE, "seconds")
        self.beat = self._lapse / SHARE
        """Seconds between two signs of life."""
        self._seen: dict[str, tuple[int, bytes | None, float]] = {}
        """By key: the number and the content that counted when it was looked at, and since when they have been so."""

    def take(self, key: str) -> Lease | None:
        """The claim, if nobody has it. Whoever asks holds this machine's lock: one of the same machine's is dead."""
        number, content = self._look(key)
        if number and self._is_alive(key) and _holder(content).get("machine") != self._machine:
            return None
        lease = Lease(self._objects, key, number + 1, self._machine)
        return lease if lease.take() else None

    def is_held(self, key: str) -> bool:
        """Whether somebody has it, as far as one can see from here."""
        number, _ = self._look(key)
        return bool(number) and self._is_alive(key)

    def known(self) -> set[str]:
        """Those that may be held."""
        return set(self._objects.names(CLAIMS))

    def _look(self, key: str) -> tuple[int, bytes | None]:
        number = _highest(self._objects, f"{CLAIMS}/{key}")
        if not number:
            self._seen.pop(key, None)  # of many steps few are claimed at a time
            return 0, None
        content = self._objects.read(f"{CLAIMS}/{key}/{number}")
        if self._seen.get(key, (0, None, 0.0))[:2] != (number, content):
            self._seen[key] = (number, content, self._clock())
        return number, content

    def _is_alive(self, key: str) -> bool:
        return self._clock() - self._seen[key][2] < self._lapse


def _highest(objects: Objects, folder: str) -> int:
    """The number that counts; 0: there is none."""
    return max(_numbers(objects, folder), default=0)


def _numbers(objects: Objects, folder: str) -> list[int]:
    """Those of claims; what else lies beside them is not looked at."""
    return [int(name) for name in objects.names(folder) if re.fullmatch("[1-9][0-9]*", name)]


def _holder(content: bytes | None) -> dict[str, str]:
    try:
        told = json.loads(content or b"{}")
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
