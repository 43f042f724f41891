"""Results from one store to another, and whether what a store has is as it was published."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from babelscope.core.errors import DamagedResult, StoreError
from babelscope.engine.disk import COPY, explained, names_in
from babelscope.engine.environment import note_environment
from babelscope.engine.manifest import check_files, flush, read_manifest
from babelscope.engine.mark import is_shelved
from babelscope.engine.sharing.results import AT_ONCE
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
    dropped: tuple[str, ...] = ()
    """Their weights were dropped, and the other store is one that keeps all weights; they are not copied."""


def copy(keys: Collection[str], source: Store, target: Store, told: Told = lambda done, count: None) -> Copied:
    """Copy results from one store to another, with what they were computed with and on; what is there stays.

    Raises:
        StoreError: one of the stores cannot be read or written.
    """
    target.prepare()
    wanted = [*keys]
    there = target.published(wanted)
    copied, damaged, without = [], {}, []
    for done, key in enumerate(wanted, 1):
        if key not in there:
            try:
                if not target.drops_weights and not source.is_whole(key):
                    without.append(key)
                elif _adopt(key, source, target):
                    copied.append(key)
            except DamagedResult as error:
                damaged[key] = str(error)
        told(done, len(wanted))
    others = {*copied, *damaged, *without}
    return Copied(tuple(copied), tuple(key for key in wanted if key not in others), damaged, tuple(without))


def misfits_in(store: Store, keys: Collection[str]) -> dict[str, DamagedResult]:
    """Those of the results that were computed from other bits than the store has. Nothing but manifests is read.

    Raises:
        StoreError: the store cannot be read.
    """

    def misfit(key: str) -> DamagedResult | None:
        try:
            store.bits.check(key, store.manifest(key))
        except DamagedResult as error:
            return error
        return None

    there = sorted(store.published(keys))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = zip(there, pool.map(misfit, there), strict=True)
        return {key: error for key, error in found if error}


def strays_in(store: Store) -> list[str]:
    """What lies among the results of a folder and is none: not named by a key, or in the folder of others."""
    results = store.folder / "results"
    there = [(shelf, name) for shelf in names_in(results) for name in names_in(results / shelf, are_folders=True)]
    return sorted(f"results/{shelf}/{name}" for shelf, name in there if not is_shelved(name, shelf))


def _adopt(key: str, source: Store, target: Store) -> bool:
    """Copy a result as it was published, manifest included, and verify the copy.

    Gives False, and takes nothing, if it is there, or another process computes it now.
    """
    with target.claim(key) as mine, explained(target.folder):
        if not mine or target.has(key):
            return False
        copy = target.folder / "drafts" / f"{key}{COPY}"
        shutil.rmtree(copy, ignore_errors=True)
        try:
            shutil.copytree(source.result(key), copy)
            manifest = read_manifest(copy, key)
            check_files(copy, manifest)
            flush(copy)
            if environment := source.environment(manifest):
                note_environment(target.folder, environment)
            target.place(copy, key)
        finally:
            shutil.rmtree(copy, ignore_errors=True)
        return True


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
