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
from babelscope.steps.plan import Plan


class LocalCrew:
    """At most `size` children, each of which has `seconds` for a step (None: all that it takes)."""

    def __init__(self, store: Store, size: int, seconds: float | None = None):
        if size < 1:
            raise InputError(f"--jobs {size}: give at least 1, or leave it out for as many as the cores have room for")
        self._store, self._size, self._seconds = store, size, seconds
        self._children: list[Child] = []

    def __enter__(self) -> LocalCrew:
        return self

    def __exit__(self, *exception: object) -> None:
        dismiss(self._children)

    @property
    def has_room(self) -> bool:
        """Whether a child is free, or another may be started."""
        return len(self._children) < self._size or any(child.key is None for child in self._children)

    def give(self, step: Step, place: int) -> None:
        """Let a free child execute the step."""
        self._free_child().give(step.key, bytes(ForkingPickler.dumps(step)), self._seconds)

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
        self._children.append(Child(self._store.folder))
        return self._children[-1]


def default_jobs(plan: Plan) -> int:
    """As many steps as the usable cores have threads for; one at a time if a step needs a GPU."""
    needs = [step.needs for step in plan.steps.values()]
    if any(need.gpus for need in needs):
        return 1
    return max(1, usable_cores() // max((need.threads for need in needs), default=1))


def usable_cores() -> int:
    """The number of physical cores that this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(psutil.cpu_count(logical=False) or usable, usable)
