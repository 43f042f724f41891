"""Batches that are made while the model is busy with the one before."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from torch import Tensor

from babelscope.encoders.on_device import each_tensor

AHEAD = 2
"""Batches that are made before they are wanted: one in the making while another waits."""

Wanted = TypeVar("Wanted")


def made_ahead(wanted: Iterable[Wanted], make: Callable[[Wanted], Any], device: str) -> Iterator[tuple[Wanted, Any]]:
    """What is wanted, with the batch that `make` makes of it, on the device.

    For an accelerator a thread makes batches ahead, for CUDA in memory that it can copy from by itself. On a processor
    a batch is made when it is wanted, since a thread would take the time from the training.
    """
    if device == "cpu":
        yield from ((each, make(each)) for each in wanted)
        return
    with ThreadPoolExecutor(1, thread_name_prefix="batches") as thread:
        waiting: deque[tuple[Wanted, Future[Any]]] = deque()
        for each in wanted:
            waiting.append((each, thread.submit(_ready, make, each, device)))
            if len(waiting) > AHEAD:
                yield _arrived(*waiting.popleft(), device)
        while waiting:
            yield _arrived(*waiting.popleft(), device)


def _ready(make: Callable[[Wanted], Any], wanted: Wanted, device: str) -> Any:
    batch = make(wanted)
    return each_tensor(Tensor.pin_memory, batch) if device.startswith("cuda") else batch


def _arrived(wanted: Wanted, batch: Future[Any], device: str) -> tuple[Wanted, Any]:
    return wanted, each_tensor(lambda tensor: tensor.to(device, non_blocking=True), batch.result())
