"""The manifest of a result: what made it, and which files its folder holds, with their checksums."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from babelscope.core.files import share
from babelscope.core.hashing import digest, file_digest
from babelscope.engine.disk import MISPLACED, damaged, explained, inside, read_file, sync, verify, write_json

MANIFEST = "manifest.json"
DROPPED = "dropped"
"""What stands beside the digest of a file that the store does without, since its step computes it again."""


def write_manifest(folder: Path, key: str, about: Mapping[str, Any], without: Collection[str]) -> None:
    """Flush every file to the disk, then write the manifest, so that it never speaks of bytes that are not there.

    Files of the folder whose names are in `without` are not in it.
    """
    (folder / MANIFEST).unlink(missing_ok=True)
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in without):
        share(path)
        sync(path)
        files[path.relative_to(folder).as_posix()] = {"sha256": file_digest(path), "bytes": path.stat().st_size}
    manifest = {
        "key": key,
        **about,
        "files": files,
        "finished": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "versions": versions(),
        "platform": platform.platform(),
    }
    write_json(folder / MANIFEST, _sealed(manifest))
    for inner in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        sync(inner)


def replace_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Have the manifest of a published result say something else, all of it at one moment."""
    unfinished = folder / f".{MANIFEST}"  # which nobody takes for a file of the result
    write_json(unfinished, _sealed(manifest))
    share(unfinished)
    unfinished.replace(folder / MANIFEST)
    sync(folder)


def _sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {**manifest, "digest": digest(manifest)}


def flush(folder: Path) -> None:
    """Flush a folder, with all in it, to the disk."""
    for path in (folder, *folder.rglob("*")):
        sync(path)


def read_manifest(folder: Path, key: str) -> dict[str, Any]:
    """What was published as the result of that key in the folder.

    Raises:
        DamagedResult: the manifest is not as it was written, or is of another key.
        StoreError: it cannot be read.
    """
    path = folder / MANIFEST
    with explained(path):
        try:
            content = read_file(path)
        except MISPLACED:
            raise damaged(path) from None
    return parse_manifest(content, key, path)


def parse_manifest(content: bytes, key: str, path: Path | str) -> dict[str, Any]:
    """What a manifest says, which is at a path. Raises DamagedResult, as of `read_manifest`."""
    try:
        manifest: dict[str, Any] = json.loads(content)
        recorded, actual = manifest.pop("digest"), digest(manifest)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise damaged(path) from None
    if recorded != actual:
        raise damaged(path)
    if not _is_one(manifest):
        raise damaged(path, "is no manifest, with a digest that was made to match")
    for name in manifest["files"]:
        inside(Path(path).parent, name)
    if manifest["key"] != key:
        raise damaged(path, f"is of result {manifest['key'][:12]}, and not of {key[:12]}")
    return manifest


def _is_one(manifest: dict[str, Any]) -> bool:
    """Whether what is read of a manifest is there, and is what it should be."""
    files, seconds = manifest.get("files"), manifest.get("seconds", 0)
    if not (isinstance(manifest.get("key"), str) and isinstance(files, dict) and isinstance(seconds, int | float)):
        return False
    return all(
        isinstance(recorded, dict)
        and isinstance(recorded.get("sha256"), str)
        and isinstance(recorded.get("bytes"), int)
        for recorded in files.values()
    )


def check_files(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Compare all files of a result's folder with its manifest, but for those that were dropped.

    Raises:
        DamagedResult: one is not as it was published, or was not published at all.
        StoreError: one cannot be read.
    """
    published = {folder / name: recorded for name, recorded in manifest["files"].items()}
    for path in _inside(folder):
        if path not in published and path != folder / MANIFEST:
            raise damaged(path, "was not published with the result")
    for path, recorded in published.items():
        if DROPPED not in recorded:
            verify(path, recorded)


def _inside(folder: Path) -> Iterator[Path]:
    """Files, and links to anything; not what systems hide there (`.DS_Store`, `.nfs...`), which no step reads."""
    for path in folder.rglob("*"):
        if (path.is_symlink() or not path.is_dir()) and not path.name.startswith("."):
            yield path


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that numbers depend on, read without importing them."""
    names = ("babelscope", "torch", "transformers", "tokenizers", "numpy")
    installed = {"python": platform.python_version()}
    for name in names:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return installed
