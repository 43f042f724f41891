"""A stand-in for Slurm: `sbatch`, `srun` and `scontrol requeue`, as far as a script with an array needs them.

Time is short here: a task's first run is told that its time is nearly up after `SLURM_SECONDS`, and killed ten seconds later;
those that follow have all the time that they need.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

KILL_WAIT = 30


def install(folder: Path) -> Path:
    """A folder for PATH, with the three commands."""
    for name in ("sbatch", "srun", "scontrol"):
        command = folder / name
        command.write_text(f"#!/bin/sh\nexec {sys.executable} {__file__} {name} \"$@\"\n")
        command.chmod(0o755)
    return folder


def options(script: Path) -> dict[str, str]:
    return dict(re.findall(r"^#SBATCH --([\w-]+)(?:=(.*))?$", script.read_text(), re.MULTILINE))


def sbatch(script: str, *arguments: str) -> int:
    """Run all tasks of the array to their ends; the real one returns at once."""
    declared = options(Path(script))
    first, last = map(int, os.environ.get("SLURM_ARRAY", declared["array"]).split("-"))
    told = getattr(signal, "SIG" + re.fullmatch(r"B:(\w+)@\d+", declared["signal"])[1])
    tasks = range(first, last + 1)
    with ThreadPoolExecutor(len(tasks)) as pool:
        ends = [pool.submit(_task, script, arguments, task, first, told) for task in tasks]
    return max(end.result() for end in ends)


def _task(script: str, arguments: tuple[str, ...], task: int, first: int, told: int) -> int:
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
                limit = float(os.environ["SLURM_SECONDS"]) if not restarts else None
                try:
                    status = shell.wait(limit)
                except subprocess.TimeoutExpired:
                    shell.send_signal(told)  # to the batch shell alone
                    with suppress(subprocess.TimeoutExpired):
                        status = shell.wait(KILL_WAIT)
                with suppress(ProcessLookupError):
                    os.killpg(shell.pid, signal.SIGKILL)  # what the job has left behind
            restarts += 1
    print(f"task {task}: {restarts} runs, status {status}", flush=True)
    return status


def main(name: str, *arguments: str) -> int:
    if name == "srun":
        command = [word for place, word in enumerate(arguments) if not all(w.startswith("-") for w in arguments[: place + 1])]
        os.execvp(command[0], command)  # noqa: S606
    if name == "scontrol":
        assert arguments[0] == "requeue"
        Path(f"requeue-{arguments[1]}").touch()
        return 0
    return sbatch(*arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
