"""Cost of linear CKA over more sentences than fit in memory: CPU seconds, and peak memory of the whole process.

    python benchmarks/similarity.py 1000000

One layer of 768 on either side, random states, whose making is not timed; a thousand further ones are compared by their
whole Gram matrices too, in float64. Memory is that of the whole process, Python and torch included.
"""

from __future__ import annotations

import resource
import sys
import time

import torch
from torch import Tensor

from babelscope.encoders.cka import LinearCKA, linear_cka

WIDTH, BATCH = 768, 4096


def main(sentences: int) -> None:
    """Stream, and print what it cost."""
    torch.set_num_threads(1)
    chance = torch.Generator().manual_seed(0)
    cka, seconds = LinearCKA(), 0.0
    for start in range(0, sentences, BATCH):
        x, y = _states(min(BATCH, sentences - start), chance)
        began = time.process_time()
        cka.update(x, y)
        seconds += time.process_time() - began
    began = time.process_time()
    found = cka.similarity().item()
    seconds += time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{cka.samples:,} sentences of {WIDTH}: CKA {found:.6f}; {seconds:.0f} s of CPU, peak {peak:.2f} GiB")
    x, y = _states(1000, chance)
    error = abs(linear_cka(x, y).item() - _by_gram(x.double(), y.double()))
    print(f"1,000 sentences: {error:.0e} from what their Gram matrices give")


def _states(count: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Two languages that share half of what varies."""
    shared, *own = torch.randn(3, count, WIDTH, generator=chance)
    return shared + own[0], shared + own[1]


def _by_gram(x: Tensor, y: Tensor) -> float:
    centre = torch.eye(len(x), dtype=torch.float64) - 1 / len(x)
    k, l = (centre @ side @ side.T @ centre for side in (x, y))  # noqa: E741
    return float((k * l).sum() / (k.norm() * l.norm()))


if __name__ == "__main__":
    main(int(sys.argv[1]))
