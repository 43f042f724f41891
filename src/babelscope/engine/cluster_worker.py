"""What a Dask worker does with a step: it hands it to a warm child process, and says what happens.

A process of its own, since a computation that holds the interpreter's lock would keep the worker from answering its
scheduler, and since what decides a result (the order of hashes, threads) is set when a process begins.
"""

from __future__ import annotations

import atexit
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import distributed
from distributed.core import Status

from babelscope.core.errors import InputError
from babelscope.engine.child import Child, dismiss
from babelscope.engine.events import Event, Lost, as_record, ends_attempt
from babelscope.engine.manifest import versions
from babelscope.engine.mark import FORMAT_FILE
from babelscope.engine.sharing.places import is_remote

TOPIC = "babelscope"
"""Of the events that workers send to whoever listens."""
LOOKING = 0.5
"""Seconds between two looks at whether a step has run out of time."""

_children: list[Child] = []
_idle: dict[tuple[str, str], list[Child]] = {}
"""Those without a step, by the address of their store and the folder that they are in."""


@dataclass(frozen=True)
class Errand:
    """A step on its way to a worker."""

    key: str
    pickled: bytes
    store: str
    """Its address."""
    folder: str
    """That the run was begun in, which paths may be relative to."""
    paths: tuple[str, ...]
    """Files and folders of the user's own that the step reads."""
    seconds: float | None
    """That it may take."""
    versions: dict[str, str]
    """What is installed where it comes from."""


def installed() -> dict[str, str]:
    """Versions of what results and messages depend on, without what only says how a library was built."""
    return {name: version.split("+")[0] for name, version in versions().items()} | {
        "distributed": distributed.__version__
    }


def perform(errand: Errand) -> dict[str, Any]:
    """Execute the step in a child; its events go to `TOPIC`. Returns the one that ended it, as a dictionary.

    Raises:
        InputError: other versions are installed here than there, or the store is not seen from here.
    """
    worker = distributed.get_worker()
    _check(errand, worker.address)
    child = _free_child(errand.store, errand.folder)
    child.give(errand.key, errand.pickled, errand.seconds)
    while not ends_attempt(event := _next_event(child, worker)):
        worker.log_event(TOPIC, {"said": as_record(event)})
    if isinstance(event, Lost):
        _children.remove(child)
        event = replace(event, message=f"{event.message}, on {worker.address}")
    else:
        _idle[errand.store, errand.folder].append(child)
    worker.log_event(TOPIC, {"said": as_record(event)})
    return as_record(event)


def _next_event(child: Child, worker: distributed.Worker) -> Event:
    """What the child says next. If the worker is to end, the child is, too: Dask would wait half a minute for it."""
    while True:
        event = None
        if worker.status in (Status.closing, Status.closed, Status.failed):
            event = child.tell_to_end()
        elif child.connection.poll(LOOKING):
            event = child.hear()
        elif child.is_late:
            event = child.give_up()
        if event:
            return event


def _free_child(store: str, folder: str) -> Child:
    """One that has nothing to do; as many are started as the worker has threads."""
    idle = _idle.setdefault((store, folder), [])
    while idle:
        child = idle.pop()
        if child.is_alive:
            return child
        child.stop()
        _children.remove(child)
    _children.append(child := Child(store, folder if Path(folder).is_dir() else None))
    return child


def _check(errand: Errand, here: str) -> None:
    ours = installed()
    pairs = {name: (ours.get(name), errand.versions.get(name)) for name in sorted({*ours, *errand.versions})}
    others = [f"{name} {mine} there, {theirs} here" for name, (mine, theirs) in pairs.items() if mine != theirs]
    if others:
        raise InputError(f"the worker {here} has other versions: {'; '.join(others)}: install the same on both")
    if not is_remote(errand.store) and not Path(errand.store, FORMAT_FILE).is_file():
        raise InputError(f"the worker {here} sees no store in {errand.store}: it must be there under the same path")

    if unseen := [path for path in errand.paths if not Path(errand.folder, Path(path).expanduser()).exists()]:
        raise InputError(
            f"the worker {here} sees no {unseen[0]} (in {errand.folder}): files and encoders of your own must be there "
            "under the same path; data sets with names are looked for in the folder that BABELSCOPE_DATA names there"
        )


@atexit.register
def _leave() -> None:
    """Let steps save where they are when the worker is told to end."""
    dismiss(_children)
