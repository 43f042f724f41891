"""The runner's side of the workers: start them, give them steps, hear from them, and notice when one dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

from babelscope.core.step import Step
from babelscope.engine.disk import append_text
from babelscope.engine.events import Event, Failed, Progressed, Started
from babelscope.engine.store import Store

ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",  # idle threads of one worker must not burn the cores of another
    "OPENBLAS_NUM_THREADS": "1",  # NumPy and SciPy: steps run side by side, and small matrices are slower on two
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # deterministic matrix products on CUDA; read when its context is made
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TQDM_DISABLE": "1",
    "PYTHONHASHSEED": "0",  # an order of strings that slipped into a result is at least always the same
    "PYTHONFAULTHANDLER": "1",
}


class Worker:
    """One process, and the key of the step that it has."""

    def __init__(self, store: Store):
        self.key: str | None = None
        self.connection, theirs = Pipe()
        command = [sys.executable, "-P", "-m", "babelscope.engine.worker", str(theirs.fileno()), str(store.folder)]
        # The mask is inherited: Ctrl-C cannot hit a worker before it has set its own handler.
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=_environment()
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
            theirs.close()

    def give(self, message: tuple[str, bytes]) -> None:
        """Send a step, pickled, after its key. Raises OSError if the process is gone."""
        self.key = message[0]
        self.connection.send(message)

    def stop(self) -> None:
        """Kill the process. It loses nothing: results are published whole, and drafts stay."""
        self.process.kill()
        self.process.wait()
        self.connection.close()


class Crew:
    """At most `size` workers, started when there is something to do; leaving the context stops them."""

    def __init__(self, store: Store, size: int):
        self._store, self._size = store, size
        self._workers: list[Worker] = []

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.stop()

    @property
    def has_room(self) -> bool:
        """Whether a worker is free, or another may be started."""
        return len(self._workers) < self._size or any(worker.key is None for worker in self._workers)

    def give(self, step: Step) -> None:
        """Let a free worker execute the step."""
        message = (step.key, bytes(ForkingPickler.dumps(step)))
        for worker in [worker for worker in self._workers if worker.key is None]:
            try:
                worker.give(message)
            except OSError:  # it died while it had nothing to do
                self._dismiss(worker)
            else:
                return
        worker = Worker(self._store)
        self._workers.append(worker)
        with suppress(OSError):  # `listen` will report that it died
            worker.give(message)

    def listen(self, seconds: float) -> Iterator[Event]:
        """What workers say within `seconds`, or sooner; the death of one is the failure of its step."""
        speaking = wait([worker.connection for worker in self._workers], seconds)
        for worker in [worker for worker in self._workers if worker.connection in speaking]:
            try:
                event: Event = worker.connection.recv()
            except (EOFError, OSError):
                self._dismiss(worker)
                if worker.key is not None:
                    yield Failed(worker.key, self._bury(worker.key, worker.process.returncode))
                continue
            if not isinstance(event, Started | Progressed):
                worker.key = None
            yield event

    def _bury(self, key: str, status: int) -> str:
        """Why the step failed, which its log says too."""
        log = self._store.log(key)
        with suppress(OSError):
            self._store.log(key, running=True).replace(log)
        message = _obituary(status, log)
        with suppress(OSError):
            append_text(log, f"{message}\n")
        return message

    def _dismiss(self, worker: Worker) -> None:
        """Forget a worker whose pipe has closed."""
        self._workers.remove(worker)
        try:
            worker.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
        worker.connection.close()


def _environment() -> dict[str, str]:
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    return {**os.environ, **ENVIRONMENT, "PYTHONPATH": path}


def _obituary(status: int, log: Path) -> str:
    cause = f"ended with exit status {status}" if status >= 0 else f"was killed by {signal.Signals(-status).name}"
    if -status == signal.SIGKILL:
        cause += " (the system does that when memory runs out: try fewer --jobs)"
    output = f"; what it printed is in {log}" if log.exists() and log.stat().st_size else ""
    return f"the step's process {cause}{output}; run again to go on"
