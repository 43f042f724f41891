"""Run what a plan still needs, on a crew: processes of this machine, unless another is given."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType

from rich.filesize import decimal

from babelscope.engine.agenda import Agenda
from babelscope.engine.crew import Crew
from babelscope.engine.disk import ROOM
from babelscope.engine.dropping import Dropping, readers_of
from babelscope.engine.events import (
    Blocked,
    Damaged,
    Event,
    Failed,
    Finished,
    Found,
    Full,
    Lost,
    Progressed,
    Waiting,
    ends_attempt,
)
from babelscope.engine.forecast import missing_bytes
from babelscope.engine.local import LocalCrew
from babelscope.engine.retries import Retries
from babelscope.engine.store import Store
from babelscope.steps import Evaluate
from babelscope.steps.plan import Plan

POLL_INTERVAL = 0.2
"""Seconds between two looks at steps that another runner computes."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended, by the keys of steps. One that was not needed and is not in the store is in none of the four."""

    computed: tuple[str, ...]
    cached: tuple[str, ...]
    failed: dict[str, str] = field(default_factory=dict)
    """Key to message."""
    blocked: dict[str, str] = field(default_factory=dict)
    """Key to the key of the failed step that it needs, or that found the disk full."""


def run_plan(
    plan: Plan,
    store: Store,
    jobs: int | None = None,
    observe: Callable[[Event], None] = lambda event: None,
    crew: Crew | None = None,
    drop: bool = False,
    read: Collection[str] = (),
) -> Outcome:
    """Compute what the plan needs and the store lacks, on a crew; None: on this machine, `jobs` at once (`LocalCrew`).

    A step that fails stops only the steps that need it; one that finds the disk full stops all that have not begun,
    and one whose result has no room there is not begun. One whose worker is lost goes on from its draft with another;
    after three times without getting further it is tried once more when nothing else runs, and then fails. `observe` is
    told of every event, in this thread. Two runners may share a store. Ctrl-C and SIGTERM stop the workers, which
    save where they are, and raise KeyboardInterrupt; running again goes on.

    Weights that were dropped are computed again for the steps that read them, and where their keys are in `read`. With
    `drop` those of the plan that none of its steps reads any more are dropped, as `Dropping` says.

    Raises:
        InputError: `jobs` is below 1, what the crew needs is not there, or the store cannot drop weights.
        StoreError: the store cannot be written.
    """
    crew = crew or LocalCrew(store, jobs)
    return _Run(plan, store, observe, Dropping(plan, store) if drop else None, read).run(crew)


class _Run:
    """One run of a plan: the agenda, kept up to date by what workers say."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        observe: Callable[[Event], None],
        dropping: Dropping | None = None,
        read: Collection[str] = (),
    ):
        self.plan, self.store, self.observe, self.dropping, self.read = plan, store, observe, dropping, read
        self.damaged: set[tuple[str, str]] = set()
        """What a reader has found damaged, and the reader: several can find it before it is computed again."""
        self.elsewhere: set[str] = set()
        self.computed: list[str] = []
        self.readers: Mapping[str, set[str]] = {}
        """By key, the steps that read the result, once that is asked."""
        self.failed: dict[str, str] = {}
        self.blocked: dict[str, str] = {}
        self.full: str | None = None
        """The key of the first step that has found the disk full."""
        self.refused: str | None = None
        """That of the first one whose result has no room there."""
        self.given: set[str] = set()
        self.retries = Retries()
        self.looked_at = -store.looking
        """When steps that another runner computes were last looked at."""
        damaged = self.set_aside_damaged(plan.steps)
        self.there = store.published(plan.steps)
        """The results that need not be computed, asked for all at once."""
        self.agenda = Agenda(plan, self.there.__contains__, self.is_whole)
        for key in [*damaged, *read]:
            self.agenda.need(key, is_read=True)
        for key, step in plan.steps.items():  # scores are wanted themselves, also where all that reads them is there
            if isinstance(step, Evaluate):
                self.agenda.need(key)

    def run(self, crew: Crew) -> Outcome:
        if self.agenda.unfinished:
            self.store.prepare()
            self.store.plans.note(self.plan.steps)
        self.drop(self.there)
        if self.agenda.unfinished:
            with _terminable(), crew:
                while self.agenda.unfinished:
                    self.begin_ready(crew)
                    for event in crew.listen(POLL_INTERVAL):
                        self.note(event)
                    self.look_elsewhere()
        if not self.failed and not self.blocked:
            self.store.plans.forget(self.plan.steps)
        there = self.store.published(self.plan.steps).difference(self.computed)
        cached = tuple(key for key in self.plan.steps if key in there)
        return Outcome(tuple(self.computed), cached, self.failed, self.blocked)

    def doubt_readers(self, key: str) -> None:
        """Have results computed again that were made of other bits of a result than it has come out with now."""
        self.readers = self.readers or readers_of(self.plan)
        readers = self.readers.get(key, set()) & self.there
        for reader in self.set_aside_damaged(readers, again=True) if readers else ():  # few steps have any
            self.there.discard(reader)
            self.agenda.need(reader)

    def is_whole(self, key: str) -> bool:
        """Whether the result is there with all that can be read of it."""
        return key in self.there and self.store.is_whole(key)

    def drop(self, keys: Iterable[str]) -> None:
        """Drop the weights among these results that no step reads which is to be computed, or has failed."""
        if self.dropping:
            self.dropping.drop(keys, self.agenda.unfinished | self.failed.keys() | self.blocked.keys())

    def begin_ready(self, crew: Crew) -> None:
        """Give the crew what it has room for; a step that must be alone when there is nothing else."""
        steps = self.plan.steps
        while self.agenda.has_ready and not self.retries.alone and crew.has_room(steps[self.agenda.first]):
            self.begin(self.agenda.take(), crew)
        if self.retries.put_off and not self.given and not self.agenda.has_ready:
            key = self.retries.put_off.pop(0)
            self.begin(key, crew)
            self.retries.alone = key if key in self.given else None

    def begin(self, key: str, crew: Crew) -> None:
        """Give a step to a worker if there is room on the disk; what is wrong is said of the first without."""
        if self.store.drops_weights and self.is_over(key):
            self.note(Found(key))
            return
        missing = missing_bytes([self.plan.steps[key]], self.store)
        if because := self.full or (self.refused if missing else None):
            self.blocked |= dict.fromkeys([key, *self.agenda.fail(key)], because)
        elif missing:
            self.refused = key
            self.note(Failed(key, f"{self.store.folder}: no room for the result{self.lacking()}; {ROOM}"))
        else:
            self.given.add(key)
            crew.give(self.plan.steps[key], self.agenda.place(key))

    def is_over(self, key: str) -> bool:
        """Whether another runner has computed the step, and all that reads it: it may have dropped its weights, too."""
        wanted = self.agenda.readers(key) | {key}
        return key not in self.read and self.store.published(wanted) == wanted

    def set_aside_damaged(self, keys: Collection[str], *, again: bool = False) -> list[str]:
        """Verify the rows of these results. Larger files are verified by the steps that read them."""
        damaged = self.store.damaged(keys, again=again)
        for key, error in damaged.items():
            self.observe(Damaged(key, str(error)))
            self.store.quarantine(key)
        return list(damaged)

    def note(self, event: Event) -> None:
        """Bring the agenda up to date with an event, and pass it on."""
        if isinstance(event, Full) and not self.full:
            self.full = event.key
            event = replace(event, message=event.message + self.lacking())
        self.observe(event)
        if ends_attempt(event):
            self.given.discard(event.key)
        match event:
            case Progressed(key, done):
                self.retries.progressed(key, done)
            case Lost(key, message, times):
                self.lose(key, message, times)
            case Finished(key) | Found(key):
                self.computed += [key] if isinstance(event, Finished) else []
                self.doubt_readers(key)
                self.agenda.finish(key)
                self.drop(self.dropping.after(key) if self.dropping else ())
            case Waiting(key):
                self.elsewhere.add(key)
            case Failed(key, message):
                self.fail(key, message)
            case Damaged(key, message, reader) if reader:
                self.repair(key, message, reader)
        if event.key == self.retries.alone and event.key not in self.given:
            self.retries.alone = None

    def lose(self, key: str, message: str, times: int) -> None:
        """Let the step go on elsewhere, later, or not at all."""
        match self.retries.lost(key, times):
            case "never":
                self.note(Failed(key, self.store.logs.bury(key, message)))
            case "again":
                self.agenda.put_back(key)

    def lacking(self) -> str:
        """How much room is missing, where that is known; not where weights go again."""
        if self.dropping:
            return ""
        steps = [self.plan.steps[key] for key in self.plan.steps if key in self.agenda.unfinished]
        missing = missing_bytes(steps, self.store)
        return f"; about {decimal(missing)} are missing for what is left to compute" if missing else ""

    def fail(self, key: str, message: str) -> None:
        self.failed[key] = message
        for reader in self.agenda.fail(key):
            self.blocked[reader] = key
            self.observe(Blocked(reader, key))

    def repair(self, key: str, message: str, reader: str) -> None:
        """Compute an input again that its reader found damaged or gone, then let the reader try again."""
        if (key, reader) in self.damaged:  # once for a reader is an accident; twice is a bad disk
            self.note(Failed(reader, message))
            return
        self.damaged.add((key, reader))
        self.store.quarantine(key)
        if not self.store.has(key):
            self.there.discard(key)
        self.agenda.need(key, is_read=True)
        self.agenda.hold(reader, {key} & self.agenda.unfinished)

    def look_elsewhere(self) -> None:
        """Take what another runner has published; take over what it gave up."""
        if time.monotonic() - self.looked_at < self.store.looking:
            return
        self.looked_at = time.monotonic()
        for key in sorted(self.elsewhere):
            if self.store.is_whole(key) or self.is_over(key):
                self.elsewhere.remove(key)
                self.note(Found(key))
            elif not self.store.claimed(key):
                self.elsewhere.remove(key)
                self.agenda.put_back(key)


@contextmanager
def _terminable() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, so that workers are stopped on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
