"""Processes that need not import again what this one has: forks of it, instead of other Pythons."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import scipy.stats  # noqa: F401  (imported here, so that forks need not)

import babelscope.face.job  # noqa: F401
from babelscope.engine import child, worker
from babelscope.face.cli import main

DESCRIPTORS = 256
"""More than a process has open here."""


class Fork:
    """A fork that does some work, with what `subprocess.Popen` offers of it; its status is that of the work's exit."""

    def __init__(self, work: Callable[[], object]):
        self.args: tuple[str, ...] = ("a fork",)
        self.returncode: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            os._exit(status_of(work))

    def poll(self) -> int | None:
        """The exit status, if it has ended."""
        return self._look(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int | None:
        """The exit status, once it has ended; TimeoutExpired after so many seconds."""
        if timeout is None:
            return self._look(0)
        end = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(0.01)
        return self.returncode

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def _look(self, options: int) -> int | None:
        if self.returncode is None:
            process, status = os.waitpid(self.pid, options)
            self.returncode = os.waitstatus_to_exitcode(status) if process else None
        return self.returncode


def status_of(work: Callable[[], object]) -> int:
    """The exit status of some work: whatever happens, a fork must not go on as its parent."""
    try:
        work()
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def forked_command(folder: Path, arguments: tuple[str, ...], output: int, environment: Mapping[str, str]) -> Fork:
    """`babelscope` with arguments, in a session of its own; its workers are forks, too."""

    def work() -> None:
        os.setsid()
        os.chdir(folder)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.environ.update(environment)
        sys.argv = ["babelscope", *arguments]
        child.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": _forked_worker})  # type: ignore[assignment]
        main()

    return Fork(work)


def _forked_worker(command: list[str], pass_fds: list[int], env: Mapping[str, str], **_: Any) -> Fork:
    """What `Child` starts: its own end of the pipe alone is left open, so that it hears when the runner is gone."""

    def work() -> None:
        os.closerange(3, pass_fds[0])
        os.closerange(pass_fds[0] + 1, DESCRIPTORS)
        os.environ.update(env)
        worker.main(pass_fds[0], command[-1])

    return Fork(work)
