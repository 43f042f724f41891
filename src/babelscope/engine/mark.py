"""The file that makes a folder a store, and says of which format."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from babelscope.core.errors import StoreError
from babelscope.engine.disk import MISPLACED, as_json, read_file, replace_text

FORMAT = 1
FORMAT_FILE = "babelscope-store.json"
PARTS = ("results", "drafts", "claims", "damaged", "plans", "environments", "logs")
"""The folders of a store, in which it takes what there is for its own."""


def write_mark(folder: Path) -> None:
    """Mark a folder as a store unless it is one."""
    if not (folder / FORMAT_FILE).exists():
        replace_text(folder / FORMAT_FILE, as_json({"format": FORMAT}))


def refuse_foreign(folder: Path) -> None:
    """Raises StoreError if there is something else than a store of this format, or an empty folder; or if it is none
    yet, and in a folder of another store, which would take it for a part of its own."""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder}: not a folder; give --store a folder")
    marker = folder / FORMAT_FILE
    if not marker.exists():
        if folder.exists() and any(not file.name.startswith(FORMAT_FILE) for file in folder.iterdir()):
            raise StoreError(f"{folder}: neither empty nor a store; give --store a new or an empty folder")
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


def _refuse_within(folder: Path) -> None:
    path = folder.resolve()
    for part, store in pairwise((path, *path.parents)):
        if part.name in PARTS and (store / FORMAT_FILE).is_file():
            raise StoreError(
                f"{folder}: in the folder {part.name} of the store {store}; give --store a folder elsewhere"
            )
