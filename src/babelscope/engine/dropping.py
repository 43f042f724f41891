"""Weights that a store does without: a result keeps its rows, and its manifest says what was dropped.

How they come back, `put_back` has.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.filesize import decimal

from babelscope.core.crash import crash_point
from babelscope.core.errors import DroppedError, InputError, StoreError
from babelscope.engine.disk import explained
from babelscope.engine.manifest import DROPPED, read_manifest, replace_manifest
from babelscope.engine.put_back import NOTES, dropped

if TYPE_CHECKING:
    from babelscope.engine.store import Store
    from babelscope.steps.plan import Plan


def notes(store: Store, keys: Iterable[str]) -> dict[str, str]:
    """What there is to say of results whose weights were computed again and are others: the last note of each."""
    told = {key: store.manifest(key).get(NOTES) for key in (keys if store.drops_weights else ())}
    return {key: lines[-1] for key, lines in told.items() if lines}


def whole(store: Store, key: str) -> Path:
    """The folder of a published result with all its files, verified.

    Raises:
        DroppedError: some were dropped.
        StoreError: as of `Store.result`.
    """
    if store.has(key) and not store.is_whole(key):
        gone = dropped(store.manifest(key))
        size = decimal(sum(recorded["bytes"] for recorded in gone.values()))
        raise DroppedError(key, f"{', '.join(gone)} ({size}) of result {key[:12]} was dropped (keep: rows)")
    return store.result(key)


def drop(store: Store, key: str, names: Collection[str]) -> None:
    """Remove these files of a result but for their digests, unless another process has its claim.

    What is left of computing them again goes, too. Done once more it finishes what was cut short.
    """
    store.make_folders()
    with store.claim(key) as mine, explained(store.place_of(key)):
        if mine:
            _drop(store.place_of(key), key, names)
            shutil.rmtree(store.folder / "drafts" / key, ignore_errors=True)


def _drop(folder: Path, key: str, names: Collection[str]) -> None:
    manifest = read_manifest(folder, key)
    files = {name: recorded for name, recorded in manifest["files"].items() if name in names}
    if not all(DROPPED in recorded for recorded in files.values()):
        marked = {name: {**recorded, DROPPED: True} for name, recorded in files.items()}
        replace_manifest(folder, {**manifest, "files": manifest["files"] | marked})
        crash_point("drop-noted")
    for name in files:
        (folder / name).unlink(missing_ok=True)
    crash_point("dropped")


def readers_of(plan: Plan) -> Mapping[str, set[str]]:
    """By key, the steps of a plan that read the result; none of what is not read."""
    readers = defaultdict[str, set[str]](set)
    for key, step in plan.steps.items():
        for needed in step.inputs:
            readers[needed.key].add(key)
    return readers


class Dropping:
    """Drops the weights of a plan's results when no step of it reads them any more.

    What another unfinished run in the store may read stays, if its plan has steps to compute that are not in this one.
    """

    def __init__(self, plan: Plan, store: Store):
        if not store.drops_weights:
            raise InputError(
                f"keep: rows: {store.address} is shared without locks, and keeps all weights",
                "Give a folder with --store, or --with keep=best",
            )
        self._plan, self._store, self._readers = plan, store, readers_of(plan)

    def drop(self, keys: Iterable[str], pending: Set[str]) -> None:
        """Drop what none of the `pending` steps reads of these results. What cannot be dropped now may be later."""
        for key in keys:
            names = self._plan.steps[key].droppable
            if names and not pending & self._readers[key] and not self._is_wanted_elsewhere(key):
                with suppress(StoreError):
                    drop(self._store, key, names)

    def after(self, key: str) -> list[str]:
        """What may be dropped when a step is done: its own weights, and those that it has read."""
        return [key, *(needed.key for needed in self._plan.steps[key].inputs)]

    def _is_wanted_elsewhere(self, key: str) -> bool:
        for other in self._store.plans.unfinished():
            others = other.keys - self._plan.steps.keys() if key in other.keys else frozenset()
            if others and self._store.published(others) != others:
                return True
        return False
