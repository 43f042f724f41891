"""A Dask cluster on this machine: a scheduler and workers, each in a process and a folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOON = 60
HERE = "127.0.0.1"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


class Cluster:
    """It begins with a scheduler at `host`; `inside` is what starts a process there (`ip netns exec NAME`)."""

    def __init__(self, folder: Path, host: str = HERE, inside: tuple[str, ...] = ()):
        self.folder, self.processes = folder, list[subprocess.Popen[bytes]]()
        self.file = folder / "scheduler.json"
        self.engine = f"dask:{self.file}"
        self._start("scheduler", "--host", host, "--port", "0", inside=inside)

    def _start(self, kind: str, *arguments: str, inside: tuple[str, ...] = (), **environment: str) -> int:
        place = self.folder / f"{kind}-{len(self.processes)}"
        place.mkdir()
        command = [*inside, sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(self.file)]
        with (place / "log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--no-dashboard", *arguments],
                cwd=place, env={**ENVIRONMENT, **environment}, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self.processes.append(process)
        return process.pid

    def add_worker(
        self, resources: str = "memory=1e9", host: str = HERE, inside: tuple[str, ...] = (), **environment: str
    ) -> int:
        """Its process."""
        options = ("--host", host, "--nthreads", "1", "--no-nanny", "--resources", resources)
        return self._start("worker", *options, inside=inside, **environment)

    def end(self, process: int, number: signal.Signals) -> None:
        """End a worker, and have another in its place."""
        worker = next(started for started in self.processes if started.pid == process)
        worker.send_signal(number)
        self.add_worker()
        worker.wait(SOON)


@contextmanager
def cluster(folder: Path, workers: int = 0) -> Iterator[Cluster]:
    """It ends with the context."""
    begun = Cluster(folder)
    try:
        for _ in range(workers):
            begun.add_worker()
        yield begun
    finally:
        kill(begun)


def kill(begun: Cluster) -> None:
    """All its processes."""
    for process in begun.processes:
        process.kill()
        process.wait()
