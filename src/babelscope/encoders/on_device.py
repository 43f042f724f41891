"""Batches on the device of the model that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

BatchT = TypeVar("BatchT")


class KeptBatches(Generic[BatchT]):
    """Batches that are read again and again, such as those of a dev set: made for a device, and kept there."""

    def __init__(self, make: Callable[[torch.device], Iterable[BatchT]]):
        self._make = make
        self._kept: list[BatchT] | None = None
        self._device: torch.device | None = None

    def on(self, device: torch.device) -> list[BatchT]:
        """All of them, in order; for the device that they were last asked for there is nothing to do."""
        if self._kept is None or device != self._device:
            self._kept = each_tensor(lambda tensor: tensor.to(device), list(self._make(device)))
            self._device = device
        return self._kept


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
