"""What results are computed with and on: code, libraries, processor, GPU. In no key; manifests have its digest."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from babelscope.core.hashing import digest
from babelscope.engine.disk import MISPLACED, as_json, replace_text

FOLDER = "environments"
PATIENCE = 10.0
"""Seconds that another program has to answer."""


def note_environment(store: Path, environment: Mapping[str, Any]) -> str:
    """Keep an environment in a store; gives its digest."""
    name = digest(environment)
    path = store / FOLDER / f"{name}.json"
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        replace_text(path, as_json(environment))
    return name


def environment_of(store: Path, manifest: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a result was computed with and on; None of one from before that was kept, or where it is lost."""
    name = manifest.get("environment")
    with suppress(*MISPLACED, ValueError, RecursionError):
        kept: dict[str, Any] = json.loads((store / FOLDER / f"{name}.json").read_bytes())
        return kept if digest(kept) == name else None
    return None


@cache
def this_environment() -> dict[str, Any]:
    """Code, libraries and machine of this process."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "git": _git(Path(__file__).parent),
        "packages": {name: version for name, version in sorted(_packages())},
        "processor": {"model": processor(), "cores": psutil.cpu_count(logical=False), "threads": psutil.cpu_count()},
        "memory": psutil.virtual_memory().total,
        "GPUs": _gpus(),
    }


def machine_in(environment: Mapping[str, Any] | None, device: str) -> str:
    """The processor in an environment, or the GPUs if they compute; empty of one that was not kept."""
    if environment is None:
        return ""
    return (
        environment["processor"]["model"] if device == "cpu" else ", ".join(gpu["name"] for gpu in environment["GPUs"])
    )


def this_machine(device: str) -> str:
    """Likewise of this machine."""
    return processor() if device == "cpu" else ", ".join(gpu_names())


@cache
def gpu_names() -> tuple[str, ...]:
    """Of this machine's GPUs."""
    return tuple(gpu["name"] for gpu in _gpus())


def _packages() -> set[tuple[str, str]]:
    """Names and versions of all that is installed."""
    return {(str(package.metadata["Name"]), package.version) for package in metadata.distributions()}


def _git(folder: Path) -> dict[str, Any] | None:
    """The commit that this code is of, and whether it has changed since; None of an installed package."""
    if (commit := _said("git", "-C", str(folder), "rev-parse", "HEAD")) is None:
        return None
    if _said("git", "-C", str(folder), "ls-files", "--error-unmatch", "environment.py") is None:
        return None  # the package is installed inside another project's folder
    changes = _said("git", "-C", str(folder), "status", "--porcelain", "--untracked-files=no", "--", "..")
    return {"commit": commit, "changed": bool(changes)}


@cache
def processor() -> str:
    """Its model, as the system calls it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    named = _said("sysctl", "-n", "machdep.cpu.brand_string") if sys.platform == "darwin" else None
    return named or platform.processor() or platform.machine()


def _gpus() -> list[dict[str, str]]:
    """Name, driver and memory of each that NVIDIA's driver knows. Not asked of torch, which takes memory of them."""
    columns = ("name", "driver_version", "memory.total")
    listed = _said("nvidia-smi", f"--query-gpu={','.join(columns)}", "--format=csv,noheader")
    return [dict(zip(columns, line.split(", "), strict=False)) for line in (listed or "").splitlines()]


def _said(*command: str) -> str | None:
    """What a program prints; None where there is none, or it fails."""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
        return done.stdout.strip()
    return None
