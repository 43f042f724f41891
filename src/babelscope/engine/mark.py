"""The file that makes a folder a store, and says of which format."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from babelscope.core.errors import InputError, StoreError
from babelscope.core.hashing import IS_DIGEST
from babelscope.engine.disk import MISPLACED, as_json, read_file, replace_text

FORMAT = 1
FORMAT_FILE = "babelscope-store.json"
PARTS = ("results", "drafts", "claims", "damaged", "plans", "environments", "logs")
"""The folders of a store, in which it takes what there is for its own."""


def write_mark(folder: Path) -> None:
    """Mark a folder as a store unless it is one."""
    if not (folder / FORMAT_FILE).exists():
        replace_text(folder / FORMAT_FILE, as_json({"format": FORMAT}))


def is_shelved(name: str, shelf: str) -> bool:
    """Whether a folder in `results/SHELF` is a result, by its name: a key, which begins as the shelf is called."""
    return name[:2] == shelf and IS_DIGEST(name) is not None


def _what_to_do(marker: Path) -> str:
    """With a folder that has no mark: it may have lost it."""
    if (marker.parent / "results").is_dir():
        return f'if it was one, it has lost {marker.name}: write {{"format": {FORMAT}}} into that file'
    return "give --store a new or an empty folder"


def refuse_foreign(folder: Path) -> None:
    """Raises StoreError if there is something else than a store of this format, or an empty folder; or if it is none
    yet, and in a folder of another store, which would take it for a part of its own."""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder}: not a folder; give --store a folder")
    marker = folder / FORMAT_FILE
    if not marker.exists():
        foreign = folder.exists() and any(not file.name.startswith(FORMAT_FILE) for file in folder.iterdir())
        if foreign and not marker.exists():  # which another process may just have put there
            raise StoreError(f"{folder}: neither empty nor a store; {_what_to_do(marker)}")
        _refuse_within(folder)
        return
    try:
        version = json.loads(read_file(marker))["format"]
    except (*MISPLACED, ValueError, KeyError, TypeError, RecursionError):
        raise StoreError(f'{marker}: unreadable; it should say {{"format": {FORMAT}}}') from None
    if version != FORMAT:
        raise StoreError(
            f"{folder}: store of format {version!r}, this Babelscope reads format {FORMAT}; "
            "give --store another folder, or use the version of Babelscope that made this one"
        )


def check_outside(path: Path) -> None:
    """Refuse a place for what is no result (`InputError`): a store, or in one of the folders that are its own."""
    if (path / FORMAT_FILE).is_file():
        raise InputError(f"{path}: is a store, which holds results alone; choose a place outside of it")
    if part := _part_around(path):
        raise InputError(
            f"{path}: in the folder {part.name} of the store {part.parent}, which takes all that is there for its own; "
            "choose a place outside of it"
        )


def _refuse_within(folder: Path) -> None:
    if part := _part_around(folder):
        raise StoreError(
            f"{folder}: in the folder {part.name} of the store {part.parent}; give --store a folder elsewhere"
        )


def _part_around(path: Path) -> Path | None:
    """The folder of a store, such as its `results`, that a path is or lies in."""
    path = path.resolve()
    around = pairwise((path, *path.parents))
    return next((part for part, store in around if part.name in PARTS and (store / FORMAT_FILE).is_file()), None)
