"""Results at a place that machines share: files under their digests, and a manifest, which is put where there is none.

The manifest is put last, so that a result is there whole or not at all, and who is first stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from babelscope.core.errors import StoreError
from babelscope.core.hashing import digest, file_digest
from babelscope.engine.disk import damaged, inside
from babelscope.engine.environment import FOLDER as ENVIRONMENTS
from babelscope.engine.manifest import MANIFEST, parse_manifest
from babelscope.engine.sharing.objects import Objects

FETCHES = 3
"""How often a file is fetched that does not arrive as it was published."""
AT_ONCE = 16
"""Requests at a time."""
SINGLE = 64
"""Results that are asked for one by one; of more, the folders that they are in are listed."""
T = TypeVar("T")


class SharedResults:
    """Those at a place. What was seen there once is not asked for again."""

    def __init__(self, objects: Objects):
        self._objects = objects
        self._seen: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether there is one."""
        if key not in self._seen and self._objects.has(_result(key)):
            self._seen.add(key)
        return key in self._seen

    def among(self, keys: set[str]) -> set[str]:
        """Those of the keys of which there is one."""
        missing = keys - self._seen
        if len(missing) > SINGLE:
            self._seen |= missing.intersection(self._listed({key[:2] for key in missing}))
        else:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                [*pool.map(self.has, missing)]
        return keys & self._seen

    def keys(self, digits: str = "") -> list[str]:
        """All whose keys begin with these digits."""
        shelves = {digits[:2]} if len(digits) > 1 else set(self._objects.names("results"))
        return sorted(key for key in self._listed(shelves) if key.startswith(digits))

    def manifest(self, key: str) -> dict[str, Any]:
        """What made it.

        Raises:
            StoreError: there is none.
            DamagedResult: the manifest is not as it was published.
        """
        return self._manifest(key)[1]

    def files(self, key: str) -> set[str]:
        """The names of the objects that it consists of besides its manifest; none if there is none."""
        content = self._objects.read(_result(key))
        manifest = parse_manifest(content, key, self._place(key)) if content else {"files": {}}
        return {_file(key, recorded) for recorded in manifest["files"].values()}

    def content(self, key: str, recorded: Mapping[str, Any]) -> bytes:
        """That of a file, as its manifest has recorded it. Raises DamagedResult."""

        def read(name: str) -> tuple[str, bytes]:
            content = self._objects.read(name) or b""
            return sha256(content).hexdigest(), content

        return self._sound(key, recorded, read)

    def verify(self, key: str) -> None:
        """Read all files, in pieces. Raises DamagedResult."""
        for recorded in self.manifest(key)["files"].values():
            self._sound(key, recorded, lambda name: (self._objects.digest(name), None))

    def fetch(self, key: str, folder: Path) -> dict[str, Any]:
        """Bring one to a new folder, verified; gives its manifest. Raises DamagedResult."""
        content, manifest = self._manifest(key)
        for name, recorded in manifest["files"].items():
            self._fetch_file(key, recorded, inside(folder, name))
        (folder / MANIFEST).write_bytes(content)
        return manifest

    def put(self, whole: Path, manifest: Mapping[str, Any], environment: Mapping[str, Any] | None) -> bool:
        """Publish a folder, with what it was computed with and on; False if there is another result."""
        if environment and not self._objects.has(name := f"{ENVIRONMENTS}/{manifest['environment']}"):
            self._objects.write(name, json.dumps(environment).encode())
        key = manifest["key"]
        for name, recorded in manifest["files"].items():
            self._objects.write(_file(key, recorded), whole / name)
        return self._objects.create(_result(key), (whole / MANIFEST).read_bytes())

    def remove(self, key: str) -> None:
        """Have it published no more. Its files are left."""
        self._objects.remove(_result(key))
        self.doubt(key)

    def doubt(self, key: str) -> None:
        """Ask again whether it is there."""
        self._seen.discard(key)

    def environment(self, name: str) -> dict[str, Any] | None:
        """What results were computed with and on, by its digest; None where it is lost."""
        with suppress(ValueError, RecursionError):
            kept: dict[str, Any] | None = json.loads(self._objects.read(f"{ENVIRONMENTS}/{name}") or b"null")
            return kept if kept and digest(kept) == name else None
        return None

    def _fetch_file(self, key: str, recorded: Mapping[str, Any], path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._sound(key, recorded, lambda name: (file_digest(path) if self._objects.fetch(name, path) else None, None))

    def _listed(self, shelves: set[str]) -> list[str]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            names = pool.map(lambda shelf: self._objects.names(f"results/{shelf}"), shelves)
            return [key for shelf in names for key in shelf]

    def _manifest(self, key: str) -> tuple[bytes, dict[str, Any]]:
        """Its bytes, and what they say."""
        content = self._objects.read(_result(key))
        if content is None:
            raise StoreError(f"{self._objects.address}: no result {key}; run the study that needs it")
        return content, parse_manifest(content, key, self._place(key))

    def _place(self, key: str) -> str:
        return f"{self._objects.address}/{_result(key)}"

    def _sound(self, key: str, recorded: Mapping[str, Any], read: Callable[[str], tuple[str | None, T]]) -> T:
        """What is read of a file, which may arrive damaged; `read` takes its name, and gives its digest, too."""
        name = _file(key, recorded)
        for _ in range(FETCHES):
            read_digest, content = read(name)
            if read_digest == recorded["sha256"]:
                return content
        raise damaged(f"{self._objects.address}/{name}")


def _result(key: str) -> str:
    return f"results/{key[:2]}/{key}"


def _file(key: str, recorded: Mapping[str, Any]) -> str:
    return f"files/{key[:2]}/{key}/{recorded['sha256']}"
