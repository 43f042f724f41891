"""Results from one store to another, and whether what a store has is as it was published."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from babelscope.core.errors import DamagedResult, StoreError
from babelscope.engine.store import Store

Told = Callable[[int, int], None]
"""Is told how many of how many results are done."""


class Copied(NamedTuple):
    """What came of copying results, by their keys."""

    copied: tuple[str, ...]
    there: tuple[str, ...]
    """The other store had them, or computes them now: they stay as they are."""
    damaged: dict[str, str]
    """Not as they were published, and why; they are not copied."""


def copy(keys: Collection[str], source: Store, target: Store, told: Told = lambda done, count: None) -> Copied:
    """Copy results from one store to another, with what they were computed with and on; what is there stays.

    Raises:
        StoreError: one of the stores cannot be read or written.
    """
    target.prepare()
    wanted = [*keys]
    there = target.published(wanted)
    copied, damaged = [], {}
    for done, key in enumerate(wanted, 1):
        if key not in there:
            try:
                if target.adopt(key, source.result(key)):
                    copied.append(key)
                    target.adopt_environment(source.environment(source.manifest(key)))
            except DamagedResult as error:
                damaged[key] = str(error)
        told(done, len(wanted))
    return Copied(tuple(copied), tuple(key for key in wanted if key not in {*copied, *damaged}), damaged)


def damaged_in(store: Store, keys: Collection[str], told: Told = lambda done, count: None) -> dict[str, str]:
    """Those of the results that are not as they were published, models included, and what is wrong with each."""
    damaged = {}
    for done, key in enumerate(keys, 1):
        try:
            store.check(key)
        except StoreError as error:
            damaged[key] = str(error)
        told(done, len(keys))
    return damaged
