"""The crew of a Dask cluster. Steps travel through its scheduler, results through the store alone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, Future, KilledWorker

from babelscope.core.errors import BabelscopeError, DataError, InputError
from babelscope.core.outside import given_path, read_json
from babelscope.core.step import Step
from babelscope.engine.cluster_worker import TOPIC, Errand, Origin, check, installed, perform
from babelscope.engine.events import Event, Lost, ends_attempt, event_of
from babelscope.engine.store import Store

FILE = "dask:"
"""Before the path of the file where a scheduler says where it is."""
AHEAD = 3
"""Steps that are with the scheduler for each thread of a worker: one that runs, and the next."""
CONNECTING = 60.0
"""Seconds in which a scheduler must be found."""
LOOKING = 2.0
"""Seconds between two looks at which workers there are."""
KILLED = 3
"""Workers that Dask lets die with a step before it says so."""


class DaskCrew:
    """The workers of the scheduler at `address` (`dask:FILE`, `tcp://HOST:PORT`, `tls://HOST:PORT`).

    They see the store under the same path, and so they do `paths`, the files and folders of the user's own that steps
    read. Leaving the context takes back what has not begun; what runs is published.
    """

    def __init__(self, store: Store, address: str, seconds: float | None = None, paths: tuple[str, ...] = ()):
        self._address, self._seconds = address, seconds
        self._origin = Origin(store.address, str(Path.cwd()), paths, installed())
        self._futures: dict[str, Future] = {}
        """By the keys of steps."""
        self._last: dict[str, Event] = {}
        """What ended an attempt, by the step's key; it comes before the future is done."""
        self._attempts: Counter[str] = Counter()
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        """Records of events, and futures that are done, in the order in which they came."""
        self._threads, self._declared, self._looked_at = 0, frozenset[str](), -LOOKING

    def __enter__(self) -> DaskCrew:
        self._client = _connect(self._address)
        try:
            # Before anything is computed; who joins later checks it with the first step.
            for problem in self._client.run(check, self._origin, on_error="return").values():
                if isinstance(problem, Exception):
                    self._refuse(problem)
        except BaseException:
            self._client.close()
            raise
        self._client.subscribe_topic(TOPIC, lambda event: self._inbox.put(event[1]["said"]))
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.close()

    def has_room(self, step: Step) -> bool:
        """Whether the scheduler has few steps at hand, so that a plan of any length takes little memory of it."""
        self._look()
        return len(self._futures) < AHEAD * max(1, self._threads)

    def give(self, step: Step, place: int) -> None:
        """Submit the step; where it has been lost, as another task, since Dask counts what befell the first."""
        key = f"{type(step).__name__}-{step.key}"
        if attempts := self._attempts[step.key]:
            key += f"-{attempts}"
        self._attempts[step.key] += 1
        pickled = bytes(ForkingPickler.dumps(step))
        errand = Errand(step.key, pickled, self._seconds, self._origin)
        future = self._client.submit(
            perform, errand, key=key, resources=self._demands(step), priority=-place, pure=False, retries=0
        )
        self._futures[step.key] = future
        future.add_done_callback(self._inbox.put)

    def listen(self, seconds: float) -> Iterator[Event]:
        """What workers say within `seconds`, or sooner.

        Raises:
            InputError: the scheduler is gone, or a worker differs from this process.
        """
        with suppress(Empty):
            message = self._inbox.get(timeout=seconds)
            for left in reversed(range(self._inbox.qsize() + 1)):  # what comes meanwhile is heard next time
                event = self._ended(message) if isinstance(message, Future) else self._told(message)
                if event:
                    yield event
                if left:
                    message = self._inbox.get_nowait()

    def _told(self, record: dict[str, Any]) -> Event | None:
        """An event of a step that runs; not one that came late, nor another run's."""
        if record["key"] not in self._futures:
            return None
        event = event_of(record)
        if ends_attempt(event):
            self._last[event.key] = event
            return None
        return event

    def _ended(self, future: Future) -> Event:
        key = next(part for part in str(future.key).split("-") if part in self._futures)
        del self._futures[key]
        last = self._last.pop(key, None)
        if future.status == "finished":
            return last or event_of(future.result())
        if future.cancelled():
            raise self._gone()
        error = future.exception()
        if isinstance(error, KilledWorker):
            return Lost(key, f"{KILLED + 1} workers have died with the step", times=KILLED)
        self._refuse(error)
        return Lost(key, f"{type(error).__name__}: {error}")

    def _refuse(self, error: Exception) -> None:
        """Raise what a worker says against the run; no other error, which may come of the worker's end."""
        if isinstance(error, ImportError):
            raise InputError(f"a worker of {self._address}: {error}: start workers where Babelscope is installed")
        if isinstance(error, BabelscopeError):
            raise error

    def _gone(self) -> InputError:
        return InputError(f"{self._address}: the scheduler is gone: start it again, then run again to go on")

    def _look(self) -> None:
        """See how many threads there are, and what workers declare to have."""
        if time.monotonic() - self._looked_at < LOOKING:
            return
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        except OSError:
            raise self._gone() from None
        self._threads = sum(worker["nthreads"] for worker in workers)
        self._declared = frozenset(name for worker in workers for name in worker["resources"])
        self._looked_at = time.monotonic()

    def _demands(self, step: Step) -> dict[str, float]:
        """What a worker must have declared; of threads and memory only where some worker says how much it has."""
        needs = step.needs
        wanted = {"GPU": needs.gpus, "threads": needs.threads, "memory": needs.memory}
        return {name: n for name, n in wanted.items() if n and (name == "GPU" or name in self._declared)}


def _not_written(file: Path) -> str:
    """Why a file is not what a scheduler writes, or not yet as a whole; empty if it is.

    Without an address a client would ask for minutes.
    """
    try:
        written = read_json(file)
    except DataError as error:
        return error.problem
    is_address = isinstance(written, dict) and isinstance(written.get("address"), str)
    return "" if is_address else "the file is not what a scheduler writes"


def _connect(address: str) -> Client:
    """Raises InputError if there is no scheduler."""
    deadline = time.monotonic() + CONNECTING
    file = given_path(address.removeprefix(FILE)).absolute() if address.startswith(FILE) else None
    while file and not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    try:
        if file and not file.exists():
            raise OSError(f"no such file after {CONNECTING:g} seconds")
        while file and (problem := _not_written(file)):
            if time.monotonic() > deadline:
                raise ValueError(problem)
            time.sleep(0.1)
        where = {"scheduler_file": str(file)} if file else {"address": address}
        return Client(**where, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"--engine {address}: no scheduler there ({error}): start one with dask scheduler --scheduler-file FILE, "
            "and give dask:FILE, or the address that it prints"
        ) from None
