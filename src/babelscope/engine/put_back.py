"""What the manifest of a result says of weights that were dropped, and how these come back.

The manifest is replaced before a file goes, and after it is back, so that it never promises bytes that are not there.
A file that is dropped and still in its place, as a kill between the two leaves it, counts as gone.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from babelscope.core.crash import crash_point
from babelscope.core.files import share
from babelscope.core.hashing import file_digest
from babelscope.engine.disk import sync
from babelscope.engine.made_of import MADE_OF
from babelscope.engine.manifest import DROPPED, read_manifest, replace_manifest

NOTES = "notes"
"""What the manifest of a result has where weights that were computed again are others: a line for each time."""


def dropped(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The files that were dropped of a result, by name, as they were recorded."""
    return {name: recorded for name, recorded in manifest["files"].items() if DROPPED in recorded}


def put_back(draft: Path, folder: Path, key: str, made_of: Mapping[str, str] | None = None) -> None:
    """Move what was dropped from the draft that it was computed in again to the result in a folder.

    The manifest says what it was `made_of` this time, and notes where it is not the same to the last bit, as on another
    machine. A file that the step does not write any more is no longer listed.
    """
    manifest = read_manifest(folder, key)
    told, files = list(manifest.get(NOTES, [])), dict(manifest["files"])
    for name, before in dropped(manifest).items():
        del files[name]
        if (path := draft / name).is_file():
            share(path)
            sync(path)
            files[name] = {"sha256": file_digest(path), "bytes": path.stat().st_size}
            path.replace(folder / name)
            if before["sha256"] != files[name]["sha256"]:
                told.append(_differing(name, before["sha256"], files[name]["sha256"]))
                print(told[-1], file=sys.stderr)
    sync(folder)
    crash_point("put-back")
    made = {MADE_OF: made_of} if made_of else {}
    replace_manifest(folder, {**manifest, "files": files, **made, **({NOTES: told} if told else {})})
    crash_point("return-noted")


def _differing(name: str, before: str, now: str) -> str:
    """What to say of a file that has another digest than before."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return (
        f"{name} was dropped, and computed again with other bits ({when}, {platform.platform()}): SHA-256 {now}, "
        f"before {before}. The rows of this result are of the weights before; what was computed from these is computed "
        "again"
    )
