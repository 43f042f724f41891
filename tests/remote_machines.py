"""Machines that share a store without locks, and what one of them does or sees there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from babelscope.engine.sharing import remote
from babelscope.engine.sharing.remote import RemoteStore
from toy_steps import SOON

Machine = Callable[[str], RemoteStore]
"""A machine by its name: what it sees of one store, with a folder of its own."""


KEY = "ab" * 32


def prepared(store: RemoteStore) -> RemoteStore:
    store.prepare()
    return store


@contextmanager
def when_started(outside: Path, act: Callable[[], object]) -> Iterator[None]:
    """Do something as soon as a steady step has begun."""

    def wait() -> None:
        deadline = time.monotonic() + SOON
        while not (outside / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    yield
    thread.join()


def saved(store: RemoteStore) -> None:
    """Have the draft of the step that is claimed saved, as after some minutes."""
    store._saved[KEY] -= remote.SAVING
    assert store.may_go_on(KEY)


def shared_files(address: str) -> list[Path]:
    """Of results, in a folder."""
    return sorted(Path(address.removeprefix("file://")).glob("files/*/*/*"))
