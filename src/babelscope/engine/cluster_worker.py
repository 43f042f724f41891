"""What a Dask worker does with a step: it hands it to a warm child process, and says what happens.

A process of its own, since a computation that holds the interpreter's lock would keep the worker from answering its
scheduler, and since what decides a result (the order of hashes, threads) is set when a process begins.
"""

from __future__ import annotations

import atexit
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import distributed
from distributed.core import Status

from babelscope.core.errors import InputError
from babelscope.engine.child import Child, dismiss
from babelscope.engine.events import Event, Lost, as_record, ends_attempt
from babelscope.engine.manifest import versions
from babelscope.engine.mark import FORMAT_FILE
from babelscope.engine.sharing.addresses import is_remote

TOPIC = "babelscope"
"""Of the events that workers send to whoever listens."""
LOOKING = 0.5
"""Seconds between two looks at whether a step has run out of time."""

_children: set[Child] = set()
_idle: list[tuple[tuple[str, str], Child]] = []
"""Those without a step, with the address of their store and the folder that they are in; the latest is last."""
_choosing = Lock()


@dataclass(frozen=True)
class Origin:
    """Where steps come from, and what a worker must have of it."""

    store: str
    """The address of the store."""
    folder: str
    """That the run was begun in, which paths may be relative to."""
    paths: tuple[str, ...]
    """Files and folders of the user's own that the run reads."""
    versions: dict[str, str]
    """What is installed."""


@dataclass(frozen=True)
class Errand:
    """A step on its way to a worker."""

    key: str
    pickled: bytes
    seconds: float | None
    """That it may take."""
    origin: Origin


def installed() -> dict[str, str]:
    """Versions of what results and messages depend on, without what only says how a library was built."""
    return {name: version.split("+")[0] for name, version in versions().items()} | {
        "distributed": distributed.__version__
    }


def perform(errand: Errand) -> dict[str, Any]:
    """Execute the step in a child; its events go to `TOPIC`. Returns the one that ended it, as a dictionary.

    Raises:
        InputError: as of `check`.
    """
    worker = distributed.get_worker()
    check(errand.origin, worker)
    child = child_of(errand.origin)
    child.give(errand.key, errand.pickled, errand.seconds)
    while not ends_attempt(event := _next_event(child, worker)):
        worker.log_event(TOPIC, {"said": as_record(event)})
    if isinstance(event, Lost):
        _children.discard(child)
        event = replace(event, message=f"{event.message}, on {worker.address}")
    else:
        rest(child, errand.origin, worker.state.nthreads)
    worker.log_event(TOPIC, {"said": as_record(event)})
    return as_record(event)


def _next_event(child: Child, worker: distributed.Worker) -> Event:
    """What the child says next. If the worker is to end, the child is, too: Dask would wait half a minute for it."""
    while True:
        if worker.status in (Status.closing, Status.closed, Status.failed):
            event = child.tell_to_end()
        else:
            event = child.hear() if child.connection.poll(LOOKING) else None
            if child.is_late:  # which one that has said its last word is not
                event = child.give_up()
        if event:
            return event


def child_of(origin: Origin) -> Child:
    """One that has nothing to do."""
    with _choosing:
        while resting := next((entry for entry in reversed(_idle) if entry[0] == (origin.store, origin.folder)), None):
            _idle.remove(resting)
            if resting[1].is_alive:
                return resting[1]
            _stop(resting[1])
        _children.add(child := Child(origin.store, origin.folder if Path(origin.folder).is_dir() else None))
        return child


def rest(child: Child, origin: Origin, threads: int) -> None:
    """Keep a child for a later step. Of all stores there are twice as many as threads; of more the first goes."""
    with _choosing:
        _idle.append(((origin.store, origin.folder), child))
        for _, other in _idle[: -2 * threads]:
            _stop(other)
        del _idle[: -2 * threads]


def _stop(child: Child) -> None:
    child.stop()
    _children.discard(child)


def check(origin: Origin, dask_worker: distributed.Worker) -> None:
    """Refuse to compute what comes from elsewhere.

    Raises:
        InputError: other versions are installed here, or the store or a file of the user's own is not seen from here.
    """
    here = f"the worker {dask_worker.address}"
    mine = installed()
    pairs = {name: (mine.get(name), origin.versions.get(name)) for name in sorted({*mine, *origin.versions})}
    others = [f"{name} {ours} there, {theirs} here" for name, (ours, theirs) in pairs.items() if ours != theirs]
    if others:
        raise InputError(f"{here} has other versions: {'; '.join(others)}: install the same on both")
    if not is_remote(origin.store) and not Path(origin.store, FORMAT_FILE).is_file():
        raise InputError(f"{here} sees no store in {origin.store}: it must be there under the same path")
    if unseen := [path for path in origin.paths if not Path(origin.folder, Path(path).expanduser()).exists()]:
        raise InputError(
            f"{here} sees no {unseen[0]} (in {origin.folder}): files and encoders of your own must be there under the "
            "same path: copy them there, or to a folder that all machines see, and run in it"
        )


@atexit.register
def _leave() -> None:
    """Let steps save where they are when the worker is told to end."""
    dismiss(_children)
