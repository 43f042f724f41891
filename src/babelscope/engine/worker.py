"""A worker: a process that executes one step after another, so that what they import is loaded once.

Started by `child` as `python -m babelscope.engine.worker DESCRIPTOR STORE`, with one end of a pipe.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from queue import SimpleQueue
from threading import Thread, Timer
from typing import Any

from babelscope.core.devices import is_out_of_memory
from babelscope.core.errors import BabelscopeError, NoMemoryError, OtherRunError, StoreError, told
from babelscope.core.row import Row
from babelscope.core.step import Interrupted, Step
from babelscope.engine.child import GRACE, TOLD_TO_END
from babelscope.engine.clock import Clock
from babelscope.engine.disk import room_advice
from babelscope.engine.dropping import whole
from babelscope.engine.energy import metered
from babelscope.engine.events import (
    TRIES,
    Damaged,
    Event,
    Failed,
    Finished,
    Found,
    Full,
    Lost,
    Progressed,
    Started,
    Waiting,
)
from babelscope.engine.made_of import MADE_OF
from babelscope.engine.recall import describe
from babelscope.engine.sharing.places import store_at
from babelscope.engine.store import Store

PROGRESS_INTERVAL = 0.1
"""Seconds between two progress messages of a step."""


class End:
    """Whether this process is to end, since its pipe has closed, or somebody has told it to.

    A step that reports its progress is told so, and has `GRACE` to save where it is. Any other loses nothing.
    """

    def __init__(self) -> None:
        self.is_asked = False
        self.can_wait = False
        """Whether a step is there that will look at `is_asked`."""

    def ask(self, *_: object) -> None:
        """End the process, at once or soon."""
        if not self.can_wait:
            os._exit(TOLD_TO_END)
        if not self.is_asked:
            self.is_asked = True
            timer = Timer(GRACE, os._exit, [TOLD_TO_END])
            timer.daemon = True
            timer.start()


END = End()


class DraftWorkspace:
    """The `Workspace` of one step: its draft in the store, and the pipe to the runner."""

    def __init__(self, key: str, store: Store, connection: Connection):
        self._key, self._store, self._connection = key, store, connection
        self.folder = store.draft(key)
        self.clock = self._clock()
        self.step = ""
        """The class of the step, once it is known."""
        self.unreadable: str | None = None
        """The key of the input whose result could not be read."""
        self._last_message = -PROGRESS_INTERVAL
        if self.clock.key != key:
            self.begin_again(f"it is of result {self.clock.key[:12]}")
            self.clock = self._clock()

    def _clock(self) -> Clock:
        return Clock(self.folder / "seconds.json", self._key)

    def result(self, step: Step) -> Path:
        """The folder of an input's published result, its checksums verified."""
        try:
            return whole(self._store, step.key)
        except StoreError:
            self.unreadable = step.key
            raise

    def write_rows(self, rows: Iterable[Row]) -> None:
        """Set the rows of this step's result."""
        self._store.write_rows(self._key, rows)

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Add to the rows of this step's result, at once: a kill does not lose them."""
        self._store.add_rows(self._key, rows)

    def rows_so_far(self) -> list[Row]:
        """The rows that this step, or an attempt that was cut short, has written."""
        return self._store.rows_so_far(self._key, self.step)

    def begin_again(self, reason: str) -> None:
        """Set aside what an earlier attempt has left, and say so in the log."""
        _say_begun_again(self._store.abandon_draft(self._key), reason)
        self._store.draft(self._key)

    def progress(self, done: int, total: int, **numbers: float) -> None:
        """Tell the runner, at most ten times a second, and when all is done."""
        END.can_wait = True
        if END.is_asked or not self._store.may_go_on(self._key):
            self.clock.save(at_once=True)
            raise Interrupted
        now = time.monotonic()
        if done >= total or now - self._last_message >= PROGRESS_INTERVAL:
            self._last_message = now
            values = {name: float(value) for name, value in numbers.items()}
            with suppress(OSError):  # the runner is gone, which the next step will hear
                self._connection.send(Progressed(self._key, int(done), int(total), values))
            self.clock.save()


def attempt(key: str, pickled: bytes, store: Store, connection: Connection) -> Event:
    """Execute a step unless another process does or did. The claim is held until the result is published.

    What is interrupted has time to leave its claim, which may save the draft where others see it.
    """
    try:
        return _attempt(key, pickled, store, connection)
    finally:
        END.can_wait = False


def _attempt(key: str, pickled: bytes, store: Store, connection: Connection) -> Event:
    with store.claim(key) as mine:
        if not mine:
            return Waiting(key)
        if store.is_whole(key):
            return Found(key)
        connection.send(Started(key))
        with _output_to(store.logs.begin(key), store.logs.of(key)):
            if moved := store.renew_draft(key):
                _say_begun_again(moved, "it holds links, or rows that are not as they were written")
            ended = _execute(key, pickled, store, DraftWorkspace(key, store, connection))
            _give_memory_back()
            return ended


def _execute(key: str, pickled: bytes, store: Store, workspace: DraftWorkspace) -> Event:
    try:
        step: Step = ForkingPickler.loads(pickled)
        workspace.step = type(step).__name__
        with metered() as energy:
            seconds = _go_on(step, workspace)
        made_of = store.bits.of(needed.key for needed in step.inputs)
        store.publish(key, {**describe(step), "seconds": round(seconds, 3), **energy, MADE_OF: made_of})
    except NoMemoryError as error:
        with suppress(OSError):
            print(error, file=sys.stderr)
        return Lost(key, str(error), TRIES)
    except BabelscopeError as error:
        if workspace.unreadable:
            return Damaged(workspace.unreadable, str(error), reader=key)
        with suppress(OSError):
            print(error, file=sys.stderr)
        return _failed(key, error, str(error))
    except Exception as error:
        store.may_go_on(key)  # a store that was moved may be why
        with suppress(OSError):  # the disk may be full, which may be the very error
            traceback.print_exc()
        if is_out_of_memory(error):  # which another step may have
            return Lost(key, f"the accelerator has too little memory for it: {error}", TRIES)
        return _failed(key, error, f"{told(error)}; the traceback is in {store.logs.of(key)}")
    return Finished(key, seconds)


def _give_memory_back() -> None:
    """To the machine, what this process keeps for later: other processes may share a GPU, and the memory."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    with suppress(AttributeError, OSError, TypeError):  # of another C library than GNU's
        ctypes.CDLL(None).malloc_trim(0)


def _failed(key: str, error: Exception, message: str) -> Failed:
    advice = room_advice(error)
    if advice is None:
        return Failed(key, message)
    return Full(key, message if advice in message else f"{error}; {advice}")


def _go_on(step: Step, workspace: DraftWorkspace) -> float:
    """The seconds that a step took; it is begun again, once, where what an earlier attempt has left is in its way."""
    try:
        step.execute(workspace)
        return workspace.clock.stop()
    except (OtherRunError, IsADirectoryError, NotADirectoryError, FileExistsError) as error:
        if isinstance(error, OSError) and workspace.folder not in Path(str(error.filename)).parents:
            raise
        workspace.begin_again(str(error))
        step.execute(workspace)
        return workspace.clock.stop()


def _say_begun_again(moved: Path, reason: str) -> None:
    print(f"begun again; what an earlier attempt had left is in {moved}: {reason}", file=sys.stderr)


@contextmanager
def _output_to(running: Path, ended: Path) -> Iterator[None]:
    """Send what this process prints, native libraries included, to a file, renamed in the end; an empty one goes.

    What is interrupted is not renamed.
    """
    saved = os.dup(1), os.dup(2)
    with running.open("xb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    try:
        yield
    except Interrupted:
        ended = running
        raise
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        for stream, original in zip((1, 2), saved, strict=True):
            os.dup2(original, stream)
            os.close(original)
        with suppress(FileNotFoundError):
            if running.stat().st_size:
                running.replace(ended)
            else:
                running.unlink()


def _listen(connection: Connection, inbox: SimpleQueue[tuple[str, bytes]]) -> None:
    """Receive steps; end the process when the runner is gone."""
    try:
        while True:
            inbox.put(connection.recv())
    except (EOFError, OSError):
        END.ask()


def main(descriptor: int, address: str) -> None:
    """Execute the steps that come through the pipe, until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to every process; the runner decides
    signal.signal(signal.SIGTERM, END.ask)  # schedulers of jobs do, too, and are not to be kept waiting
    connection: Connection = Connection(descriptor)
    inbox: SimpleQueue[tuple[str, bytes]] = SimpleQueue()
    Thread(target=_listen, args=(connection, inbox), daemon=True).start()
    store: Store | None = None
    with suppress(BrokenPipeError):  # the runner is gone
        while True:
            key, pickled = inbox.get()
            try:
                store = store or store_at(address)
                event = attempt(key, pickled, store, connection)
            except (BabelscopeError, OSError) as error:
                event = _failed(key, error, str(error))
            except Interrupted:
                os._exit(TOLD_TO_END)
            connection.send(event)
            if END.is_asked:
                os._exit(TOLD_TO_END)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
