"""Drafts of steps that are saved now and then where another machine can go on from them."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from babelscope.core.errors import DamagedResult
from babelscope.core.hashing import IS_DIGEST, file_digest
from babelscope.engine.disk import COPY, explained, inside
from babelscope.engine.sharing.objects import Objects

LIST = "draft"
"""The object that has the names and digests of a draft's files, which are objects beside it."""


class SavedDrafts:
    """Those at a place. One that is not whole, or not as it was saved, counts for nothing."""

    def __init__(self, objects: Objects):
        self._objects = objects

    def files(self, key: str) -> dict[str, str]:
        """Names and digests of the files of a draft; none where none was saved."""
        with suppress(ValueError, RecursionError):
            told = json.loads(self._objects.read(_name(key, LIST)) or b"{}")
            if isinstance(told, dict) and all(isinstance(content, str) for content in told.values()):
                return told if all(IS_DIGEST(content) for content in told.values()) else {}
        return {}

    def save(self, key: str, draft: Path) -> None:
        """Save a draft in place of the one before, of which it may have some files still."""
        before = set(self.files(key).values())
        files = {path.relative_to(draft).as_posix(): path for path in draft.rglob("*") if path.is_file()}
        digests = {name: file_digest(path) for name, path in files.items()}
        for name, content in digests.items():
            if content not in before:
                self._objects.write(_name(key, content), files[name])
        self._objects.write(_name(key, LIST), json.dumps(digests).encode())
        for content in before.difference(digests.values()):
            self._objects.remove(_name(key, content))

    def fetch(self, key: str, draft: Path) -> None:
        """Bring a draft to a folder, unless that is there."""
        files = {} if draft.exists() else self.files(key)
        if not files:
            return
        copy = draft.with_name(f"{key}.{uuid4().hex[:8]}{COPY}")
        with explained(copy):
            try:
                for name, content in files.items():
                    (path := inside(copy, name)).parent.mkdir(parents=True, exist_ok=True)
                    if not self._objects.fetch(_name(key, content), path) or file_digest(path) != content:
                        return
                copy.rename(draft)
            except DamagedResult:  # one that leads out of its folder
                return
            finally:
                shutil.rmtree(copy, ignore_errors=True)

    def forget(self, key: str) -> None:
        """Remove what was saved of a step, since its result is published."""
        for name in self._objects.names(f"drafts/{key}"):
            self._objects.remove(_name(key, name))


def _name(key: str, name: str) -> str:
    return f"drafts/{key}/{name}"
