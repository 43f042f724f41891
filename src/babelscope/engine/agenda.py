"""Which steps of a plan are to be computed, and which of them can start: bookkeeping without processes."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from babelscope.steps.plan import Plan


class Agenda:
    """The unfinished steps of a plan, by key.

    `has` says whether a result is in the store, `is_whole` (default: the same) whether with all that may be read of it.
    A step is needed if its result is missing and no step of the plan reads it, or is not whole and a needed one does:
    where the last result is in the store, those before need not be.
    """

    def __init__(self, plan: Plan, has: Callable[[str], bool], is_whole: Callable[[str], bool] | None = None):
        self._plan, self._has, self._is_whole = plan, has, is_whole or has
        self._keys = list(plan.steps)
        self._position = {key: position for position, key in enumerate(self._keys)}
        self._missing: dict[str, set[str]] = {}
        self._readers: dict[str, set[str]] = {}
        self._ready: list[int] = []
        self.unfinished: set[str] = set()
        read = {needed.key for step in plan.steps.values() for needed in step.inputs}
        for key in plan.steps:
            if key not in read:
                self.need(key)

    def need(self, key: str, is_read: bool = False) -> None:
        """Put the step and whatever it needs on the agenda, unless it is there or in the store; if read, as a whole."""
        if key in self.unfinished or (self._is_whole if is_read else self._has)(key):
            return
        self.unfinished.add(key)
        inputs = {needed.key for needed in self._plan.steps[key].inputs}
        for needed in inputs:
            self.need(needed, is_read=True)
        self.hold(key, inputs & self.unfinished)

    def hold(self, key: str, inputs: set[str]) -> None:
        """Let the step wait for these unfinished inputs; with none, it is ready."""
        self._missing[key] = set(inputs)
        for needed in inputs:
            self._readers.setdefault(needed, set()).add(key)
        if not inputs:
            self.put_back(key)

    @property
    def has_ready(self) -> bool:
        """Whether a step can start."""
        return bool(self._ready)

    @property
    def first(self) -> str:
        """The ready step that comes first in the plan."""
        return self._keys[self._ready[0]]

    def take(self) -> str:
        """The same, which is then no longer ready."""
        return self._keys[heappop(self._ready)]

    def put_back(self, key: str) -> None:
        """Make a step ready, that was taken or has all its inputs."""
        heappush(self._ready, self._position[key])

    def readers(self, key: str) -> set[str]:
        """The unfinished steps that wait for this one."""
        return self._readers.get(key, set())

    def place(self, key: str) -> int:
        """Where the step is in the plan."""
        return self._position[key]

    def finish(self, key: str) -> None:
        """The result is in the store: readers that missed only this one become ready."""
        self.unfinished.remove(key)
        for reader in self._readers.pop(key, set()):
            self._missing[reader].discard(key)
            if not self._missing[reader]:
                self.put_back(reader)

    def fail(self, key: str) -> list[str]:
        """Take the step off, and every step downstream of it. Returns the latter, in the plan's order."""
        self.unfinished.remove(key)
        blocked: list[str] = []
        for reader in self._readers.pop(key, set()):
            if reader in self.unfinished:
                blocked += [reader, *self.fail(reader)]
        return sorted(blocked, key=self._position.__getitem__)
