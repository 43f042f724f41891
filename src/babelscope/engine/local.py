"""The crew of this machine: child processes, started when there is something to do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from numbers import Integral

import psutil

from babelscope.core.errors import InputError
from babelscope.core.step import Needs, Step
from babelscope.engine.child import Child, dismiss
from babelscope.engine.events import Event
from babelscope.engine.slots import NO_GPU, ONE_OTHER, Gpu, Taken, free_gpu, gpus_here, shares
from babelscope.engine.store import Store


class LocalCrew:
    """At most `jobs` steps at once (None: as many as there are threads for), those of GPUs where these have room.

    Each has `seconds` (None: all that it takes). `gpus` are those that may be used, as `CUDA_VISIBLE_DEVICES` names
    them (None: all that are visible).
    """

    def __init__(
        self,
        store: Store,
        jobs: int | None = None,
        seconds: float | None = None,
        gpus: Sequence[str] | None = None,
    ):
        if jobs is not None and (not isinstance(jobs, Integral) or isinstance(jobs, bool) or jobs < 1):
            room = "leave it out for as many as the cores have room for"
            raise InputError(f"--jobs {jobs!r:.100}: give at least 1, a whole number, or {room}")
        self._store, self._jobs, self._seconds, self._chosen = store, jobs, seconds, gpus
        self._cores = usable_cores()
        self._children: list[Child] = []

    def __enter__(self) -> LocalCrew:
        if self._chosen is not None:
            gpus_here(self._chosen)  # one that is not there is refused, whether or not a step needs it
        return self

    def __exit__(self, *exception: object) -> None:
        dismiss(self._children)

    def has_room(self, step: Step) -> bool:
        """Whether `jobs` are not reached, or cores are left for its threads, and a GPU has room if it needs one.

        One that needs more than there is runs alone.
        """
        busy, needs = [child.needs for child in self._children if child.key is not None], step.needs
        if needs.gpus and self._gpu_for(needs) is None:
            return False
        if self._jobs is not None:
            return len(busy) < self._jobs
        return not busy or sum(each.threads for each in [*busy, needs]) <= self._cores

    def give(self, step: Step, place: int) -> None:
        """Let a free child execute the step, on the GPU that has most room if it needs one."""
        needs = step.needs
        child = self._free_child(self._gpu_for(needs) if needs.gpus else NO_GPU)
        if (
            needs.device == "cuda"
            and not shares(needs, self._gpus)
            and all(other.key is None for other in self._children)
        ):
            self._end_idle(child)
        child.needs = needs
        child.give(step.key, bytes(ForkingPickler.dumps(step)), self._seconds)

    def listen(self, seconds: float) -> Iterator[Event]:
        """What children say within `seconds`, or sooner; the death of one is the loss of its step."""
        speaking = wait([child.connection for child in self._children], seconds)
        for child in list(self._children):
            event = child.hear() if child.connection in speaking else None
            if child.is_late:  # which one that has said its last word is not
                event = child.give_up()
            if child.connection.closed:
                self._children.remove(child)
            if event:
                yield event

    def _gpu_for(self, needs: Needs) -> str | None:
        taken = [Taken(child.gpu, child.needs) for child in self._children if child.gpu and child.key is not None]
        return free_gpu(needs, self._gpus if needs.device == "cuda" else ONE_OTHER, taken)

    @cached_property
    def _gpus(self) -> list[Gpu]:
        """Looked for only where a step needs one."""
        return gpus_here(self._chosen)

    def _end_idle(self, kept: Child) -> None:
        """A step that will not share a GPU has all of its memory, of which idle processes keep half a gigabyte each."""
        for child in [child for child in self._children if child.gpu == kept.gpu and child is not kept]:
            child.stop()
            self._children.remove(child)

    def _free_child(self, gpu: str | None) -> Child:
        for child in [child for child in self._children if child.key is None and child.gpu == gpu]:
            if child.is_alive:
                return child
            child.stop()  # it died while it had nothing to do
            self._children.remove(child)
        self._children.append(Child(self._store.address, gpu=gpu))
        return self._children[-1]


def usable_cores() -> int:
    """The number of physical cores that this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(psutil.cpu_count(logical=False) or usable, usable)
