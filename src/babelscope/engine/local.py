"""The crew of this machine: child processes, started when there is something to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler

import psutil

from babelscope.core.errors import InputError
from babelscope.core.step import Step
from babelscope.engine.child import Child, dismiss
from babelscope.engine.events import Event
from babelscope.engine.store import Store


class LocalCrew:
    """At most `jobs` steps at once (None: as many as there are threads for, and one on a GPU).

    Each has `seconds` (None: all that it takes).
    """

    def __init__(self, store: Store, jobs: int | None = None, seconds: float | None = None):
        if jobs is not None and jobs < 1:
            raise InputError(f"--jobs {jobs}: give at least 1, or leave it out for as many as the cores have room for")
        self._store, self._jobs, self._seconds = store, jobs, seconds
        self._cores = usable_cores()
        self._children: list[Child] = []

    def __enter__(self) -> LocalCrew:
        return self

    def __exit__(self, *exception: object) -> None:
        dismiss(self._children)

    def has_room(self, step: Step) -> bool:
        """Whether `jobs` are not reached, or cores are left for its threads; one that needs more runs alone."""
        busy = [child.needs for child in self._children if child.key is not None]
        if self._jobs is not None:
            return len(busy) < self._jobs
        needs = step.needs
        is_gpu_taken = needs.gpus > 0 and any(others.gpus for others in busy)
        return not busy or (not is_gpu_taken and sum(each.threads for each in [*busy, needs]) <= self._cores)

    def give(self, step: Step, place: int) -> None:
        """Let a free child execute the step."""
        child = self._free_child()
        child.needs = step.needs
        child.give(step.key, bytes(ForkingPickler.dumps(step)), self._seconds)

    def listen(self, seconds: float) -> Iterator[Event]:
        """What children say within `seconds`, or sooner; the death of one is the loss of its step."""
        speaking = wait([child.connection for child in self._children], seconds)
        for child in list(self._children):
            event = None
            if child.connection in speaking:
                event = child.hear()
            elif child.is_late:
                event = child.give_up()
            if child.connection.closed:
                self._children.remove(child)
            if event:
                yield event

    def _free_child(self) -> Child:
        for child in [child for child in self._children if child.key is None]:
            if child.is_alive:
                return child
            child.stop()  # it died while it had nothing to do
            self._children.remove(child)
        self._children.append(Child(self._store.address))
        return self._children[-1]


def usable_cores() -> int:
    """The number of physical cores that this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(psutil.cpu_count(logical=False) or usable, usable)
