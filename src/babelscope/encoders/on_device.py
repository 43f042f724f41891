"""Batches on the device of the model that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

BatchT = TypeVar("BatchT")


class KeptBatches(Generic[BatchT]):
    """Batches that are read again and again, such as those of a dev set: made once, and kept where they are read."""

    def __init__(self, make: Callable[[], Iterable[BatchT]]):
        self._make = make
        self._kept: list[BatchT] | None = None
        self._device = torch.device("cpu")

    def on(self, device: torch.device) -> list[BatchT]:
        """All of them, in order; on the device that they were last asked for there is nothing to do."""
        batches = list(self._make()) if self._kept is None else self._kept
        if device != self._device:
            batches = each_tensor(lambda tensor: tensor.to(device), batches)
        self._kept, self._device = batches, device
        return batches


def each_tensor(change: Callable[[Tensor], Tensor], batch: Any) -> Any:
    """A batch with each tensor changed: a named tuple of tensors, further ones and other values, or a list of them."""
    if isinstance(batch, Tensor):
        return change(batch)
    if isinstance(batch, list):
        return [each_tensor(change, part) for part in batch]
    if isinstance(batch, tuple):
        parts = (each_tensor(change, part) for part in batch)
        return type(batch)(*parts) if hasattr(batch, "_fields") else tuple(parts)
    return batch
