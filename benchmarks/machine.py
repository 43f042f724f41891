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


def units() -> list[str]:
    """What the processor has for matrix products in bfloat16, by the names of its instructions."""
    able = torch.cpu.get_capabilities()
    return [title for title, name in (("AMX", "amx_bf16"), ("AVX512_BF16", "avx512_bf16")) if able.get(name)]


@dataclass(frozen=True)
class Machine:
    """Where a benchmark is run."""

    processor: str = field(default_factory=processor)
    units: list[str] = field(default_factory=units)
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
        units = " and ".join(self.units) or "no units"
        ceilings = ", ".join(f"{speed:,.0f} GFLOP/s in {name}" for name, speed in self.gigaflops.items())
        return (
            f"{self.processor}, {units} for bfloat16, {self.cores} cores, load {self.load:.1f} when it began; torch "
            f"{self.torch}, Python {self.python}; matrix products: {ceilings}."
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
