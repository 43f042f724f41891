"""A disk that is full, and files that may not grow: a run says so, and goes on when there is room."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from faults.attempts import Attempt, WrongError
from faults.limits import Command
from faults.stores import Laboratory, strict

SMALL_DISK = """
mount -t tmpfs -o size="$1" none store || exit 99
"$2" -m babelscope run "$3" --store store --jobs 1
echo $? > status
mount -o remount,size=1g store
"$2" -m babelscope run "$3" --store store --jobs 1
last=$?
cp -r store kept
exit $last
"""
"""In a name space of its own, where any user may mount: a run on a small disk, then one with room."""
SMALL_FILES = 'ulimit -f "$1"; exec "$2" -m babelscope run "$3" --store store --jobs 1'


def full_disk_attempts(laboratory: Laboratory) -> dict[str, Attempt]:
    """A small disk, where the system lets us have one, and a limit to the size of files."""
    attempts = {"limit to the size of files": strict(lambda chance, folder: _small_files(laboratory, folder, chance))}
    if _may_mount():
        attempts["small disk"] = strict(lambda chance, folder: _small_disk(laboratory, folder, chance))
    return attempts


def _may_mount() -> bool:
    command = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return (
        shutil.which("unshare") is not None and not subprocess.run(command, capture_output=True, check=False).returncode
    )


def _small_disk(laboratory: Laboratory, folder: Path, chance: random.Random) -> Counter[str]:
    (folder / "store").mkdir()
    full = sum(path.stat().st_size + 4096 for path in laboratory.undisturbed.rglob("*"))
    size = 4096 * chance.randint(1, full // 8192)
    program = ("unshare", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, "sh")
    ended = Command(folder, str(size), sys.executable, str(laboratory.study), program=program).end(runs=2)
    if ended.status:
        raise WrongError(f"not gone on with when there was room: {ended}")
    was_full = (folder / "status").read_text().strip() != "0"
    if was_full and "free some space" not in ended.output:
        raise WrongError(f"{size} bytes: stopped without advice: {ended}")
    laboratory.check_all(folder / "kept")
    return Counter({"full disk: runs stopped for want of room": int(was_full)})


def _small_files(laboratory: Laboratory, folder: Path, chance: random.Random) -> Counter[str]:
    program = ("sh", "-c", SMALL_FILES, "sh", str(chance.randint(0, 40)), sys.executable, str(laboratory.study))
    stopped = Command(folder, program=program).end()
    laboratory.finish(folder / "store")
    return Counter({"full disk: runs stopped by a limit to files": int(stopped.status != 0)})
