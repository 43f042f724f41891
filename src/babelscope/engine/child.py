"""A warm child process that executes steps, one at a time, and the pipe that it is spoken to through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path

from babelscope.core.errors import InputError
from babelscope.core.step import Needs
from babelscope.engine.events import Event, Lost, Started, ends_attempt
from babelscope.engine.slots import OTHER, VISIBLE

ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",  # idle threads of one worker must not burn the cores of another
    "OPENBLAS_NUM_THREADS": "1",  # NumPy and SciPy: steps run side by side, and small matrices are slower on two
    # GNU's C library gives large blocks back to the system and gets them anew, page by page, in every training step:
    # a fifth of the time of masked language modelling with 130,000 pieces. Here it keeps them until the step's end.
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # deterministic matrix products on CUDA; read when its context is made
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TQDM_DISABLE": "1",
    "PYTHONHASHSEED": "0",  # an order of strings that slipped into a result is at least always the same
    "PYTHONFAULTHANDLER": "1",
}
GRACE = 20.0
"""Seconds that a step has to save where it is when its process is to end; schedulers of jobs allow 30."""
TOLD_TO_END = 128 + signal.SIGTERM
"""The exit status of a child that was told to end."""


class Child:
    """One process, and the key of the step that it has.

    `store` is the address of the store; the process begins in `folder`, by default in ours. Of GPUs it sees `gpu`
    alone, with `NO_GPU` none, or with None all that we see. Raises InputError on a system without POSIX's signals and
    descriptors.
    """

    def __init__(self, store: str, folder: str | None = None, gpu: str | None = None):
        self.key: str | None = None
        self.gpu = gpu
        self.needs = Needs()
        """Of its step, while it has one."""
        self._seconds: float | None = None
        self._deadline: float | None = None
        if not hasattr(signal, "pthread_sigmask"):
            raise InputError("steps run in processes that are started as POSIX does it; on Windows, run this in WSL")
        self.connection, theirs = Pipe()
        command = [sys.executable, "-P", "-m", "babelscope.engine.worker", str(theirs.fileno()), store]
        # The mask is inherited: Ctrl-C cannot hit a worker before it has set its own handler.
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=_environment(gpu), cwd=folder
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
            theirs.close()

    def give(self, key: str, pickled: bytes, seconds: float | None = None) -> None:
        """Send a step, which has so many seconds from its start, or all. If the process is gone, `hear` will say so."""
        self.key, self._seconds, self._deadline = key, seconds, None
        with suppress(OSError):
            self.connection.send((key, pickled))

    def hear(self) -> Event | None:
        """What it says next, be it that it has died; None if that was while it had nothing to do."""
        try:
            event: Event = self.connection.recv()
        except (EOFError, OSError):
            return self._lost(_obituary(self._buried()))
        if isinstance(event, Started) and self._seconds is not None:
            self._deadline = time.monotonic() + self._seconds
        if ends_attempt(event):
            self.key = None
        return event

    @property
    def is_alive(self) -> bool:
        """Whether it can be given a step, as far as one can know."""
        return not self.connection.closed and self.process.poll() is None

    @property
    def is_late(self) -> bool:
        """Whether its step has run out of time."""
        return self.key is not None and self._deadline is not None and time.monotonic() > self._deadline

    def give_up(self) -> Event | None:
        """Kill it, since its step takes too long."""
        self.stop()
        return self._lost(f"took longer than the {self._seconds:g} seconds that a step may take (--timeout)")

    def tell_to_end(self) -> Event | None:
        """Let its step save where it is, and wait until it has."""
        dismiss([self])
        return self._lost("was told to end")

    def stop(self) -> None:
        """Kill the process. It loses nothing: results are published whole, and drafts stay."""
        self.process.kill()
        self.process.wait()
        self.connection.close()

    def _lost(self, cause: str) -> Event | None:
        key, self.key = self.key, None
        return Lost(key, f"the step's process {cause}") if key else None

    def _buried(self) -> int:
        """The exit status of a process whose pipe has closed."""
        try:
            status = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.connection.close()
        return status


def dismiss(children: Iterable[Child]) -> None:
    """End them all. Those that have a step are given time to save where it is; interrupt this to kill them at once."""
    children = list(children)
    deadline = time.monotonic() + GRACE
    try:
        for child in children:
            if child.key is None:
                child.process.kill()
            child.connection.close()  # which tells it to end
        for child in children:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
    finally:
        for child in children:
            child.stop()


def _environment(gpu: str | None) -> dict[str, str]:
    visible = {} if gpu in (None, OTHER) else {VISIBLE: gpu}
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    return {**os.environ, **ENVIRONMENT, **visible, "PYTHONPATH": path}


def _obituary(status: int) -> str:
    if status in (TOLD_TO_END, -signal.SIGTERM):
        return "was told to end"
    cause = f"ended with exit status {status}" if status >= 0 else f"was killed by {signal.Signals(-status).name}"
    if -status == signal.SIGKILL:
        cause += " (the system does that when memory runs out: try fewer --jobs)"
    return cause
