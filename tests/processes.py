"""The same program in several processes, for tests of what no process may decide."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO


def in_one_core() -> None:
    """To be called in a process before its program starts: its studies compute in one process.

    A process more imports what takes longer than most steps of tests, while other tests have the other cores.
    """
    if hasattr(os, "sched_setaffinity"):  # of Linux alone
        cores = sorted(os.sched_getaffinity(0))
        runner = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        os.sched_setaffinity(0, {cores[runner % len(cores)]})


def outputs_of(program: str, count: int) -> set[str]:
    """What it prints here, and in others with another order of hashes and parallel tokenizers."""
    others = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed), "TOKENIZERS_PARALLELISM": "true"},
        )
        for seed in range(1, count)
    ]
    with redirect_stdout(StringIO()) as here:
        exec(program, {"__name__": "__main__"})  # noqa: S102
    return {here.getvalue().strip(), *(other.communicate(timeout=120)[0].strip() for other in others)}
