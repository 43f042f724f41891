"""Randomness that is the same in every process, on every machine and in every Python version.

Only `random.Random.random` is used, whose sequence Python promises not to change; `choice`, `shuffle` and
`sample` carry no such promise, and neither do NumPy's generators.
"""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """A stream of random decisions named by what it is for: `Chance("treebank", 0, "qaa")`."""

    def __init__(self, *name: str | int):
        seed = hashlib.sha256("/".join(map(str, name)).encode()).digest()
        self._random = random.Random(int.from_bytes(seed, "big")).random  # noqa: S311 (data, not secrets)

    def happens(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random() < probability

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        return int(self._random() * bound)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, each equally likely."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[T], weights: Sequence[float]) -> T:
        """One of the options, each with probability proportional to its weight."""
        return self.among(options, list(accumulate(weights)))

    def among(self, options: Sequence[T], totals: Sequence[float]) -> T:
        """The same, given the running totals of the weights."""
        return options[min(bisect_right(totals, self._random() * totals[-1]), len(options) - 1)]
