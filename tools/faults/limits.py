"""What an attempt may take: in this process, and in one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from faults.attempts import Attempt, HangError, WrongError
from faults.warm import Fork, forked_command

SECONDS = 20
"""Of a processor. Those that are well take less than one; Python and torch take four to start."""
PATIENCE = 300
"""Seconds by the clock, since machines are busy."""
MEMORY = 2 << 30
"""Bytes, beside what the process has when the attempt begins."""

ENDED = os.WEXITED | os.WNOHANG | os.WNOWAIT
"""Ask whether a process has ended, and leave its status to who waits for it."""


def limited(attempt: Attempt) -> Attempt:
    """The attempt in this process, within the limits; what it prints goes nowhere."""

    def within_limits(chance: random.Random, folder: Path) -> object:
        with _within(), _small(), _quietly():
            return attempt(chance, folder)

    return within_limits


@contextlib.contextmanager
def _within() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise HangError(f"not done after {SECONDS} seconds of a processor, or {PATIENCE} in all")

    previous = {number: signal.signal(number, give_up) for number in (signal.SIGALRM, signal.SIGPROF)}
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _small() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (held + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """What is printed goes nowhere, by a strict terminal's encoding."""
    output, errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        yield


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    """Of its exit; negative: the number of the signal that killed it."""
    output: str


class Command:
    """`babelscope` with arguments, or another program, in a session of its own. `end` waits for it.

    Without a program, it is a fork of this process, which starts in no time.
    """

    def __init__(self, folder: Path, *arguments: str, program: tuple[str, ...] = (), **environment: str):
        self._output = folder / f"output-{len(list(folder.glob('output-*')))}.txt"
        self._process: subprocess.Popen[bytes] | Fork
        with self._output.open("wb") as output:
            if not program:
                self._process = forked_command(folder, arguments, output.fileno(), environment)
                return
            self._process = subprocess.Popen(
                [*program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
            )  # fmt: skip

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to its first process, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def await_words(self) -> None:
        """Wait until it has printed something, or has ended."""
        while not (self._output.stat().st_size or os.waitid(os.P_PID, self._process.pid, ENDED)):
            time.sleep(0.1)

    def end(self, runs: int = 1) -> Ended:
        """Wait until it has ended; it may take as long as so many runs.

        Raises:
            WrongError: it printed a traceback, or took more than it may.
        """
        timer = threading.Timer(PATIENCE, os.killpg, (self._process.pid, signal.SIGKILL))
        timer.start()
        _, status, used = os.wait4(self._process.pid, 0)
        hung, self._process.returncode = not timer.is_alive(), os.waitstatus_to_exitcode(status)
        timer.cancel()
        ended = Ended(self._process.returncode, self._output.read_text(encoding="utf-8", errors="replace"))
        seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
        if "Traceback" in ended.output or hung or seconds > runs * SECONDS or memory > MEMORY:
            took = (
                f"{seconds:.1f} seconds of a processor, {memory / 2**20:.0f} MiB{', and did not end' if hung else ''}"
            )
            raise WrongError(f"{' '.join(map(str, self._process.args))}: {took}\n{ended.output[-3000:]}")
        return ended
