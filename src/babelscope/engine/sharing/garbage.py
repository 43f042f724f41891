"""What a store can do without: leftovers, and on request results that no study named needs."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from babelscope.core.errors import StoreError
from babelscope.engine.disk import COPY, explained, names_in
from babelscope.engine.plans import unfinished_plans
from babelscope.engine.store import Store


class Garbage(NamedTuple):
    """A file or folder of a store that can go."""

    path: Path
    why: str
    size: int
    """Bytes."""
    key: str | None = None
    """Of the result or draft that it is."""


def garbage(store: Store, kept: Collection[str] | None = None) -> list[Garbage]:
    """What can be removed, and is not yet.

    Never what an unfinished plan needs, nor anything of a step that is being computed.

    Args:
        store: a folder.
        kept: results that are to stay, of all studies that count; None: all results stay.

    Raises:
        StoreError: results are to go while a step is computed of which no plan in the store tells what else it needs.
    """
    plans = frozenset[str]().union(*(plan.keys for plan in unfinished_plans(store.folder)))
    there = set(store.keys())
    claimed = store.running([name.partition(".")[0] for name in names_in(store.folder / "claims")])
    if kept is not None and (unknown := claimed - plans):
        raise StoreError(
            f"{store.folder}: {len(unknown)} steps are being computed by runs that do not say what they need: wait for "
            "them, or leave out --keep"
        )
    found = [*_leftovers(store, there, claimed)]
    if kept is not None:
        needed = plans | claimed | set(kept)
        results = {key: store.folder / "results" / key[:2] / key for key in sorted(there - needed)}
        found += [_of(path, "no study needs it", key) for key, path in results.items()]
        found += [
            _of(store.folder / "drafts" / key, "a draft that no study needs", key)
            for key in sorted({*names_in(store.folder / "drafts")} - needed - there)
            if not key.endswith(COPY)
        ]
    return found


def remove(found: Iterable[Garbage], store: Store) -> int:
    """Remove what `garbage` has found, unless it has been claimed since; gives the bytes that it took."""
    removed = 0
    for piece in found:
        if piece.key is None:
            removed += _remove(piece, store)
        else:
            with store.claim(piece.key) as mine:
                removed += _remove(piece, store) if mine else 0
    return removed


def _remove(piece: Garbage, store: Store) -> int:
    with explained(piece.path):
        if piece.path.is_dir() and not piece.path.is_symlink():
            # Out of the way first, in one move: what is half removed is no result, and goes next time.
            shutil.rmtree(store.set_aside(piece.path))
        else:
            piece.path.unlink(missing_ok=True)
    return piece.size


def _leftovers(store: Store, there: set[str], claimed: set[str]) -> Iterator[Garbage]:
    """What nothing reads any more, whatever the studies."""
    for name in names_in(store.folder / "damaged"):
        yield _of(store.folder / "damaged" / name, "set aside, since it was damaged")
    for name in names_in(store.folder / "drafts"):
        key = name.removesuffix(COPY)
        if name != key and key not in claimed:
            yield _of(store.folder / "drafts" / name, "a copy that was cut short", key)
        elif key in there and key not in claimed:
            yield _of(store.folder / "drafts" / name, "a draft of what is published", key)
    for name in names_in(store.folder / "logs"):
        key = name.partition(".")[0]
        if key in there and key not in claimed:
            yield _of(store.folder / "logs" / name, "a log of what is published", key)


def _of(path: Path, why: str, key: str | None = None) -> Garbage:
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return Garbage(path, why, sum(file.lstat().st_size for file in files if file.is_file()), key)
