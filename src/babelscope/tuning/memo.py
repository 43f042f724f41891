"""States of sequences by content, in memory and beyond that in a file, each within a budget."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

GIBIBYTE = 2**30


class Known(NamedTuple):
    """What is known of a sequence: its states [pieces, hidden], float32, after `depth` layers."""

    depth: int
    states: Tensor


_IN_MEMORY = -1


class _Kept(NamedTuple):
    depth: int
    shape: tuple[int, int]
    start: int
    """Where the states are in the file, or `_IN_MEMORY`."""
    states: Tensor | None = None


class StateMemo:
    """The states of sequences after the first layers of one encoder at a time.

    It is shared by the runs of a process: a run of more layers of the same encoder goes on from what it holds, any
    other begins anew. Its file has no name, so that it is gone when the memo or the process is.

    Args:
        memory: bytes of states in memory at most.
        file: bytes of states in a file at most.
    """

    def __init__(self, memory: int = GIBIBYTE, file: int = 8 * GIBIBYTE):
        self.memory, self.file = memory, file
        self._digests: list[str] = []
        self._folder: Path | None = None
        self._closing = ExitStack()
        self.forget()

    def forget(self) -> None:
        """Free memory and file."""
        self._kept: dict[bytes, _Kept] = {}
        self._in_memory = self._in_file = 0
        self._inherited = False
        self._closing.close()
        self._descriptor: int | None = None

    def open(self, digests: list[str], needed: int, folder: Path) -> bool:
        """Get ready for a run over so many bytes of states; False if they are beyond the budgets.

        Args:
            digests: what decides the states after the embeddings and after each layer that the run passes over.
            needed: bytes of all states of the training examples.
            folder: for the file, should one be needed.
        """
        if needed > self.memory + self.file:
            return False
        if self._digests != digests[: len(self._digests)]:
            self.forget()
        self._digests, self._folder, self._inherited = digests, folder, bool(self._kept)
        return True

    def get(self, key: bytes) -> Known | None:
        """What is known of a sequence."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        return Known(kept.depth, self._read(kept.start, kept.shape) if kept.states is None else kept.states)

    def put(self, key: bytes, depth: int, states: Tensor) -> None:
        """Keep the states of a sequence, in place of what was known of it; without room for it, do not."""
        before, shape = self._kept.pop(key, None), (states.shape[0], states.shape[1])
        start = before.start if before else self._room(states.nbytes)
        if start == _IN_MEMORY:
            self._kept[key] = _Kept(depth, shape, start, states)
        elif start is not None and self._write(start, states):
            self._kept[key] = _Kept(depth, shape, start)

    def _room(self, size: int) -> int | None:
        """Where so many new bytes go: `_IN_MEMORY`, a place in the file, or None."""
        if self._in_memory + size <= self.memory:
            self._in_memory += size
            return _IN_MEMORY
        if self._in_file + size <= self.file:
            self._in_file += size
            return self._in_file - size
        if self._inherited:  # other runs' sequences are in the way
            self.forget()
            return self._room(size)
        return None

    def _write(self, start: int, states: Tensor) -> bool:
        """Whether the disk had room."""
        try:
            return os.pwrite(self._file(), states.contiguous().numpy().tobytes(), start) == states.nbytes
        except OSError:
            return False

    def _read(self, start: int, shape: tuple[int, int]) -> Tensor:
        data = os.pread(self._file(), 4 * shape[0] * shape[1], start)
        return torch.from_numpy(np.frombuffer(data, dtype=np.float32).reshape(shape).copy())

    def _file(self) -> int:
        """The descriptor of the file."""
        if self._descriptor is None:
            self._descriptor, name = tempfile.mkstemp(dir=self._folder)
            self._closing.callback(os.close, self._descriptor)
            Path(name).unlink()
        return self._descriptor
