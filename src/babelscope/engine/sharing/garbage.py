"""What a store can do without: leftovers, and on request results that no study named needs."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

from babelscope.core.errors import DamagedResult, StoreError
from babelscope.engine.disk import COPY, bytes_in, explained, names_in
from babelscope.engine.sharing.exchange import strays_in
from babelscope.engine.sharing.remote import RemoteStore
from babelscope.engine.sharing.results import AT_ONCE
from babelscope.engine.store import Store

UNNEEDED, DRAFT_OF_PUBLISHED = "no study needs it", "a draft of what is published"
STRAY = "no result, though it lies among them"


class Garbage(NamedTuple):
    """A file or folder of a store that can go."""

    name: str
    """Where it is in the store."""
    why: str
    size: int
    """Bytes."""
    key: str | None = None
    """Of the step that it is of."""


def garbage(store: Store, kept: Collection[str] | None = None) -> list[Garbage]:
    """What can be removed, and is not yet.

    Never what an unfinished plan needs, nor anything of a step that is being computed.

    Args:
        store: a folder, or one that machines share, of which nothing in their own folders is meant.
        kept: results that are to stay, of all studies that count; None: all results stay.

    Raises:
        StoreError: results are to go while a step is computed of which no plan in the store tells what else it needs.
    """
    planned = frozenset[str]().union(*(plan.keys for plan in store.plans.unfinished()))
    there, claimed = set(store.keys()), store.running()
    if kept is not None and (unknown := claimed - planned):
        raise StoreError(
            f"{store.address}: {len(unknown)} steps are being computed by runs that do not say what they need: wait "
            "for them, or leave out --keep"
        )
    needed = None if kept is None else planned | claimed | set(kept)
    pieces = _in_objects(store, there, needed) if isinstance(store, RemoteStore) else _in_folder(store, there, needed)
    return [piece for piece in pieces if piece.key not in claimed]


def remove(pieces: Iterable[Garbage], store: Store) -> int:
    """Remove what `garbage` has given, unless it has been claimed since; gives the bytes that it took."""
    by_key: dict[str | None, list[Garbage]] = defaultdict(list)
    for piece in pieces:
        by_key[piece.key].append(piece)
    removed = 0
    store.make_folders()
    for key, its_pieces in by_key.items():
        with store.claim(key) if key else nullcontext(True) as mine:
            removed += sum(_take(piece, store) for piece in its_pieces) if mine else 0
    return removed


def _take(piece: Garbage, store: Store) -> int:
    return _from_objects(piece, store) if isinstance(store, RemoteStore) else _from_folder(piece, store)


def _in_folder(store: Store, there: set[str], needed: Collection[str] | None) -> Iterator[Garbage]:
    for name in names_in(store.folder / "damaged"):
        yield _of(store, f"damaged/{name}", "set aside, since it was damaged")
    for name in strays_in(store):
        yield _of(store, name, STRAY)
    for name in names_in(store.folder / "drafts"):
        key = name.partition(".")[0]
        if name.endswith(COPY):
            yield _of(store, f"drafts/{name}", "a copy that was cut short", key)
        elif key in there and store.is_whole(key):
            yield _of(store, f"drafts/{name}", DRAFT_OF_PUBLISHED, key)
        elif needed is not None and key not in needed:
            yield _of(store, f"drafts/{name}", UNNEEDED, key)
    for name in names_in(store.folder / "logs"):
        if (key := name.partition(".")[0]) in there:
            yield _of(store, f"logs/{name}", "a log of what is published", key)
    for key in sorted(there.difference(needed)) if needed is not None else ():
        yield _of(store, f"results/{key[:2]}/{key}", UNNEEDED, key)


def _of(store: Store, name: str, why: str, key: str | None = None) -> Garbage:
    return Garbage(name, why, bytes_in(store.folder / name), key)


def _from_folder(piece: Garbage, store: Store) -> int:
    path = store.folder / piece.name
    with explained(path):
        if path.is_dir() and not path.is_symlink():
            # Out of the way first, in one move: what is half removed is no result, and goes next time.
            shutil.rmtree(store.set_aside(path))
        else:
            path.unlink(missing_ok=True)
    return piece.size


def _in_objects(store: RemoteStore, there: set[str], needed: Collection[str] | None) -> Iterator[Garbage]:
    """The manifest of a result comes before its files, so that what is half removed is none."""
    going = set() if needed is None else there.difference(needed)
    staying = sorted(there - going)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        files = dict(zip(staying, pool.map(partial(_files, store), staying), strict=True))
    damaged = {key for key, names in files.items() if names is None}
    listed = set[str]().union(*filter(None, files.values()))
    sizes = store.objects.sizes()
    for name in sorted(sizes, key=lambda name: (not name.startswith("results/"), name)):
        match name.split("/"):
            case ["results", _, key] if key in going:
                yield Garbage(name, UNNEEDED, sizes[name], key)
            case ["files", _, key, _] if name not in listed and key not in damaged:
                yield Garbage(name, UNNEEDED if key in going else "of no result", sizes[name], key)
            case ["drafts", key, _] if key in there:
                yield Garbage(name, DRAFT_OF_PUBLISHED, sizes[name], key)
            case ["drafts", key, _] if needed is not None and key not in needed:
                yield Garbage(name, UNNEEDED, sizes[name], key)


def _files(store: RemoteStore, key: str) -> set[str] | None:
    """The names of a result's files; None where its manifest, which names them, is damaged: then all may be its own."""
    try:
        return store.results.files(key)
    except DamagedResult:
        return None


def _from_objects(piece: Garbage, store: RemoteStore) -> int:
    if piece.key:
        store.results.doubt(piece.key)
        its_files = _files(store, piece.key) if piece.name.startswith("files/") else ()
        if its_files is None or piece.name in its_files:  # it has been published since
            return 0
    store.objects.remove(piece.name)
    return piece.size
