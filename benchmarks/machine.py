"""What the numbers are of: processor, cores, versions, and how fast the machine can multiply matrices."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psutil
import torch

from babelscope.engine.environment import processor
from babelscope.engine.local import usable_cores

SIZE, REPEATS = 1024, 20
"""Rows of the square matrices, and how often they are multiplied; the best counts."""


def has_amx() -> bool:
    """Whether it multiplies matrices of bfloat16 in units made for that."""
    return bool(torch.cpu.get_capabilities().get("amx_bf16"))


@dataclass(frozen=True)
class Machine:
    """Where a benchmark is run."""

    processor: str = field(default_factory=processor)
    amx: bool = field(default_factory=has_amx)
    cores: int = field(default_factory=usable_cores)
    load: float = field(default_factory=lambda: psutil.getloadavg()[0])
    """Processes that wanted to compute when it began."""
    torch: str = torch.__version__
    python: str = platform.python_version()
    gigaflops: dict[str, float] = field(
        default_factory=lambda: {name: gigaflops(name) for name in ("float32", "bfloat16")}
    )
    """By precision, of matrix products on all cores."""

    @property
    def in_words(self) -> str:
        """A line about it."""
        units = "with AMX" if self.amx else "without AMX"
        ceilings = ", ".join(f"{speed:,.0f} GFLOP/s in {name}" for name, speed in self.gigaflops.items())
        return (
            f"{self.processor}, {units}, {self.cores} cores, load {self.load:.1f} when it began; torch {self.torch}, "
            f"Python {self.python}; matrix products: {ceilings}."
        )


def timed(work: Callable[[], Any]) -> float:
    """Seconds of a call, and of all that it gives a GPU to do."""
    _wait()
    began = time.perf_counter()
    work()
    _wait()
    return time.perf_counter() - began


def _wait() -> None:
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def gigaflops(precision: str) -> float:
    """Of the fastest of some large matrix products, on all cores."""
    first, second = (torch.randn(SIZE, SIZE).to(getattr(torch, precision)) for _ in range(2))
    return 2 * SIZE**3 / min(timed(lambda: first @ second) for _ in range(REPEATS)) / 1e9
