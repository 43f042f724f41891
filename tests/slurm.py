"""A stand-in for Slurm, as far as a script with an array needs it: `sbatch`, `srun`, and `scontrol requeue`.

A task's first run is told that its time is nearly up when there is a file `SLURM_UNTIL`; those that follow begin when
the first ones of all tasks have ended, and have all the time that they need. `dask` is that of this Python, on the
loopback interface, and `babelscope` runs toys.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import dropwhile
from pathlib import Path
from threading import Barrier

KILL_WAIT = 60
"""Seconds until what was told so is killed: more than Slurm gives, since tests run on busy machines."""


COMMANDS = {
    **{name: f'{__file__} {name} "$@"' for name in ("sbatch", "srun", "scontrol")},
    "dask": '-m distributed.cli.dask_$kind --host 127.0.0.1 "$@"',
    "babelscope": '-c "import sys, toy_runs; toy_runs.run_as_command(*sys.argv[1:])" "$@"',
}


def install(folder: Path) -> None:
    """Put the commands into a folder for PATH."""
    for name, arguments in COMMANDS.items():
        shift = "kind=$1; shift; " if name == "dask" else ""
        (folder / name).write_text(f"#!/bin/sh\n{shift}exec {sys.executable} {arguments}\n")
        (folder / name).chmod(0o755)


def options(script: Path) -> dict[str, str]:
    return dict(re.findall(r"^#SBATCH --([\w-]+)(?:=(.*))?$", script.read_text(), re.MULTILINE))


def sbatch(script: str, *arguments: str) -> int:
    """Run all tasks of the array to their ends; the real one returns at once."""
    declared = options(Path(script))
    first, last = map(int, os.environ.get("SLURM_ARRAY", declared["array"]).split("-"))
    told = getattr(signal, "SIG" + re.fullmatch(r"B:(\w+)@\d+", declared["signal"])[1])
    tasks = range(first, last + 1)
    all_ended = Barrier(len(tasks), timeout=2 * KILL_WAIT)
    with ThreadPoolExecutor(len(tasks)) as pool:
        ends = [pool.submit(_task, script, arguments, task, first, told, all_ended) for task in tasks]
    return max(end.result() for end in ends)


def _task(script: str, arguments: tuple[str, ...], task: int, first: int, told: int, all_ended: Barrier) -> int:
    own = {"SLURM_ARRAY_JOB_ID": "17", "SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": str(first)}
    queued, restarts, status = Path(f"requeue-17_{task}"), 0, 0
    with Path(f"task-{task}.log").open("a") as log:
        while not restarts or queued.exists():
            queued.unlink(missing_ok=True)
            environment = {**os.environ, **own, "SLURM_RESTART_COUNT": str(restarts)}
            command = ["bash", script, *arguments]
            with subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            ) as shell:
                while not restarts and shell.poll() is None and not Path(os.environ["SLURM_UNTIL"]).exists():
                    time.sleep(0.02)
                if not restarts:
                    shell.send_signal(told)  # to the batch shell alone
                try:
                    status = shell.wait(None if restarts else KILL_WAIT)
                except subprocess.TimeoutExpired:
                    status = -signal.SIGKILL
                with suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGKILL)  # what the job has left behind
            if not restarts:
                all_ended.wait()
            restarts += 1
    print(f"task {task}: {restarts} runs, status {status}", flush=True)
    return status


def main(name: str, *arguments: str) -> int:
    if name == "srun":
        command = list(dropwhile(lambda word: word.startswith("-"), arguments))
        os.execvp(command[0], command)  # noqa: S606
    if name == "scontrol":
        assert arguments[0] == "requeue"
        Path(f"requeue-{arguments[1]}").touch()
        return 0
    return sbatch(*arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
