"""The GPUs of a machine, and which of them has room for a step."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.step import Needs

SHARED_BY, SHARED_WITH_MPS = 8, 16
"""Steps that one GPU computes at once, at most: each is a process with a context of its own. NVIDIA's MPS lets kernels
of several processes run at the same time, so that more of them pay."""
FULL = 0.9
"""Of a GPU's memory, what steps that share it may be expected to take."""
VISIBLE = "CUDA_VISIBLE_DEVICES"
MPS_PIPES, USUAL_MPS_PIPES = "CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps"  # noqa: S108
"""Where programs find the daemon of MPS: a folder of its own."""


class Gpu(NamedTuple):
    """One accelerator."""

    name: str
    """As `CUDA_VISIBLE_DEVICES` has it: a number or a UUID."""
    memory: int
    """Bytes."""


class Taken(NamedTuple):
    """A step that is being computed on a GPU."""

    gpu: str
    needs: Needs


NO_GPU = ""
OTHER = "other"
ONE_OTHER = (Gpu(OTHER, 0),)
"""An accelerator of another kind than CUDA: one step at a time."""


def gpus_here(chosen: Sequence[str] | None = None) -> list[Gpu]:
    """The CUDA devices of this machine that may be used: those that are chosen, else the visible ones.

    Raises:
        InputError: one that is chosen is not among the visible ones.
    """
    import torch

    visible = visible_names(torch.cuda.device_count())
    memory = {name: torch.cuda.get_device_properties(place).total_memory for place, name in enumerate(visible)}
    names = visible if chosen is None else list(dict.fromkeys(chosen))
    if unknown := [name for name in names if name not in memory]:
        there = ", ".join(visible) or "none"
        raise InputError(f"--gpus {unknown[0]}: there is no such CUDA device here; there are {there}")
    return [Gpu(name, memory[name]) for name in names]


def visible_names(count: int) -> list[str]:
    """What `CUDA_VISIBLE_DEVICES` calls the devices that torch counts, which are the first ones of it."""
    given = os.environ.get(VISIBLE)
    return [str(number) for number in range(count)] if given is None else given.replace(" ", "").split(",")[:count]


def free_gpu(needs: Needs, gpus: Sequence[Gpu], taken: Collection[Taken]) -> str | None:
    """The GPU with the most memory left of those that have room for a step; None: it has to wait.

    A step of which nothing is known gets a GPU to itself, and so does one that is too large to share.
    """
    left = {gpu.name: gpu.memory - sum(other.needs.gpu_memory for other in _on(gpu, taken)) for gpu in gpus}
    free = [gpu.name for gpu in gpus if _has_room(needs, gpu, _on(gpu, taken))]
    return max(free, key=left.__getitem__, default=None)


def shares(needs: Needs, gpus: Sequence[Gpu]) -> bool:
    """Whether another step of the kind would have room beside it on some of the GPUs."""
    return any(_has_room(needs, gpu, [Taken(gpu.name, needs)]) for gpu in gpus)


def shared_by() -> int:
    """Steps that one GPU computes at once, at most, by whether the daemon of MPS runs."""
    daemon = Path(os.environ.get(MPS_PIPES, USUAL_MPS_PIPES)) / "control"
    return SHARED_WITH_MPS if daemon.exists() else SHARED_BY


def _on(gpu: Gpu, taken: Collection[Taken]) -> list[Taken]:
    return [other for other in taken if other.gpu == gpu.name]


def _has_room(needs: Needs, gpu: Gpu, others: Sequence[Taken]) -> bool:
    if not others:
        return True
    expected = [needs.gpu_memory, *(other.needs.gpu_memory for other in others)]
    return all(expected) and len(expected) <= shared_by() and sum(expected) <= FULL * gpu.memory
