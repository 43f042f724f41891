"""A store that machines share without locks that reach all of them: objects there, and a folder here that mirrors them.

Layout of the objects:

    babelscope-remote.json            the format's version
    results/ab/KEY                    the manifest of a published result; put last, and where there is none
    files/ab/KEY/SHA256               its files, by their digests, so that two who publish do not meet
    environments/DIGEST               what results were computed with and on
    claims/KEY/N                      who computes the step
    drafts/KEY/draft, drafts/KEY/SHA256   what another machine goes on from, if this one dies

The folder has drafts and logs of what runs here, and the results that were computed or read here, the latest of them.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from babelscope.core.errors import DamagedResult, StoreError
from babelscope.core.hashing import digest, file_digest
from babelscope.core.row import Row
from babelscope.engine.disk import COPY, damaged, explained, inside
from babelscope.engine.environment import FOLDER as ENVIRONMENTS
from babelscope.engine.environment import note_environment
from babelscope.engine.journal import ROWS
from babelscope.engine.manifest import MANIFEST, parse_manifest
from babelscope.engine.old_rows import upgraded
from babelscope.engine.sharing.cache import Cache
from babelscope.engine.sharing.drafts import SavedDrafts
from babelscope.engine.sharing.leases import Lease, Leases
from babelscope.engine.sharing.objects import Objects, objects_at
from babelscope.engine.store import Store

FORMAT, MARK = 1, "babelscope-remote.json"
LOOKING = 2.0
"""Seconds between two looks at what other machines compute."""
SAVING = 600.0
"""Seconds between two times that the draft of a step is saved."""
SMALL = 1 << 20
"""Bytes of a result that is fetched as a whole where its rows are read."""
TRIES = 3
"""How often a file is fetched that does not arrive as it was published."""
AT_ONCE = 16
"""Requests at a time."""
SINGLE = 64
"""Results that are asked for one by one; of more, the folders that they are in are listed."""


class RemoteStore(Store):
    """A store at `s3://BUCKET/FOLDER` or `file://FOLDER`, with a folder of this machine.

    Raises StoreError if something else is there, or it cannot be reached.
    """

    def __init__(self, address: str, objects: Objects | None = None, cache: Cache | None = None):
        self._cache = cache or Cache.of(address)
        super().__init__(self._cache.folder)
        self.address = address
        self._objects = objects or objects_at(address)
        self._leases = Leases(self._objects, self._cache.machine)
        self.looking = min(LOOKING, self._leases.beat)
        self._drafts = SavedDrafts(self._objects)
        self._held: dict[str, Lease] = {}
        self._saved: dict[str, float] = {}
        """When the draft of a step was last saved, or it began."""
        self._there: set[str] = set()
        """What is known to be published."""
        self._refuse_foreign()

    def has(self, key: str) -> bool:
        """Whether the result is published. Its checksums are not looked at."""
        if key not in self._there and (super().has(key) or self._objects.has(_result(key))):
            self._there.add(key)
        return key in self._there

    def published(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys whose results are published: few are asked for one by one, many by listing folders."""
        wanted = set(keys)
        self._there |= super().published(wanted - self._there)
        missing = wanted - self._there
        with ThreadPoolExecutor(AT_ONCE) as pool:
            if len(missing) <= SINGLE:
                asked = zip(missing, pool.map(lambda key: self._objects.has(_result(key)), missing), strict=True)
                self._there |= {key for key, is_there in asked if is_there}
            else:
                shelves = {key[:2] for key in missing}
                names = pool.map(lambda shelf: self._objects.names(f"results/{shelf}"), shelves)
                self._there |= missing & {key for shelf in names for key in shelf}
        return wanted & self._there

    def keys(self, digits: str = "") -> list[str]:
        """All results that are published, whose keys begin with these digits."""
        shelves = [digits[:2]] if len(digits) > 1 else self._objects.names("results")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            names = pool.map(lambda shelf: self._objects.names(f"results/{shelf}"), shelves)
            return sorted(key for shelf in names for key in shelf if key.startswith(digits))

    def manifest(self, key: str) -> dict[str, Any]:
        """What made a published result."""
        return super().manifest(key) if super().has(key) else self._remote_manifest(key)[1]

    def result(self, key: str) -> Path:
        """The folder of a published result, fetched if it is not here, and verified."""
        if not super().has(key):
            self._fetch(key)
        self._cache.note_use(self._published(key))
        return super().result(key)

    def content(self, key: str, name: str, recorded: Mapping[str, Any]) -> bytes:
        """A file of a published result, compared with what its manifest has recorded of it."""
        here = super().has(key)
        return super().content(key, name, recorded) if here else self._verified_content(key, recorded)

    def rows(self, key: str) -> list[Row]:
        """The rows of a published result, verified; of a large one, nothing else is fetched."""
        if super().has(key):
            return super().rows(key)
        manifest = self._remote_manifest(key)[1]
        if sum(recorded["bytes"] for recorded in manifest["files"].values()) <= SMALL:
            self._fetch(key)
            return super().rows(key)
        recorded = manifest["files"].get(ROWS)
        content = self.content(key, ROWS, recorded) if recorded else b""
        return upgraded(manifest.get("step", ""), [Row(**json.loads(line)) for line in content.splitlines()])

    def damaged(self, keys: Collection[str]) -> dict[str, DamagedResult]:
        """Those of the results here whose rows are not as they were published; others are verified when they come."""
        here = super().published(keys)
        return super().damaged([key for key in keys if key in here])

    def check(self, key: str) -> None:
        """Read all files of a result where they are shared. Raises DamagedResult."""
        for recorded in self._remote_manifest(key)[1]["files"].values():
            self._verified_content(key, recorded)

    def environment(self, manifest: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a result was computed with and on; None where that was not kept, or is lost."""
        name = manifest.get("environment")
        if name and super().environment(manifest) is None:
            with suppress(ValueError):
                kept = json.loads(self._objects.read(f"{ENVIRONMENTS}/{name}") or b"null")
                if kept and digest(kept) == name:
                    self.make_folders()
                    note_environment(self.folder, kept)
        return super().environment(manifest)

    def prepare(self) -> None:
        """Make the folder here, and the mark there; a StoreError says that nothing can be written."""
        self._objects.create(MARK, json.dumps({"format": FORMAT}).encode())
        super().prepare()

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Hold the right to compute `key`, among the processes here and all machines; gives False if another has it."""
        with super().claim(key) as mine:
            lease = self._leases.take(key) if mine else None
            if lease is None:
                yield False
                return
            self._held[key], self._saved[key] = lease, time.monotonic()
            try:
                with lease.beating(self._leases.beat):
                    self._drafts.fetch(key, self.folder / "drafts" / key)
                    yield True
            finally:
                del self._held[key]

    def claimed(self, key: str) -> bool:
        """Whether some process is computing `key` now, here or elsewhere."""
        return super().claimed(key) or self._leases.is_held(key)

    def running(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that some process is computing now, here or elsewhere."""
        return set(filter(self.claimed, self._leases.keys().intersection(keys)))

    def has_lost(self, key: str) -> bool:
        """Whether another machine has taken the claim over, since it saw no sign of life for too long."""
        return key in self._held and self._held[key].is_lost

    def save_draft(self, key: str, at_once: bool = False) -> None:
        """Put a draft where another machine can go on from it, if that was not done lately, or at once."""
        if at_once or time.monotonic() - self._saved.get(key, 0.0) >= SAVING:
            self._drafts.save(key, self.draft(key))
            self._saved[key] = time.monotonic()

    def place(self, whole: Path, key: str) -> None:
        """Publish a whole folder: its files, then the manifest where there is none. Who is first stays."""
        if self._share(whole, key):
            super().place(whole, key)
        self._drafts.forget(key)

    def quarantine(self, key: str) -> Path | None:
        """Set a damaged result aside that is here; what is damaged for all is replaced by what is here, or removed."""
        self.prepare()
        moved = None
        with self.claim(key) as mine:
            if mine and super().has(key):
                try:
                    super().check(key)
                except DamagedResult:
                    moved = self.set_aside(self._published(key))
            if mine and (not self._objects.has(_result(key)) or self._is_damaged(key)):
                self._objects.remove(_result(key))
                self._there.discard(key)
                if super().has(key):
                    self._share(self._published(key), key)
        return moved

    def _share(self, whole: Path, key: str) -> bool:
        """Put a result where all see it; False if there is another one."""
        content = (whole / MANIFEST).read_bytes()
        manifest = parse_manifest(content, key, whole / MANIFEST)
        self._share_environment(manifest)
        for name, recorded in manifest["files"].items():
            self._objects.write(_file(key, recorded), whole / name)
        return self._objects.create(_result(key), content)

    def _refuse_foreign(self) -> None:
        # Listed before it is read: the mark is put before anything else.
        names = [name for name in self._objects.names("") if not name.startswith(".")]
        content = self._objects.read(MARK)
        if content is None:
            if names:
                raise StoreError(f"{self.address}: neither empty nor a store; give --store a new or an empty place")
            return
        with suppress(ValueError, TypeError, KeyError):
            if json.loads(content)["format"] == FORMAT:
                return
        raise StoreError(f"{self.address}/{MARK}: of another format; this Babelscope reads format {FORMAT}")

    def _remote_manifest(self, key: str) -> tuple[bytes, dict[str, Any]]:
        """Its bytes, and what they say."""
        content = self._objects.read(_result(key))
        if content is None:
            raise StoreError(f"{self.address}: no result {key}; run the study that needs it")
        return content, parse_manifest(content, key, f"{self.address}/{_result(key)}")

    def _fetch(self, key: str) -> None:
        """Bring a result here, verified."""
        content, manifest = self._remote_manifest(key)
        copy = self.folder / "drafts" / f"{key}.{uuid4().hex[:8]}{COPY}"
        with explained(self.folder):
            self.make_folders()
            copy.mkdir()
            try:
                self._fetch_files(key, {name: inside(copy, name) for name in manifest["files"]}, manifest["files"])
                (copy / MANIFEST).write_bytes(content)
                super().place(copy, key)
            finally:
                shutil.rmtree(copy, ignore_errors=True)
        self._cache.make_room(sum(recorded["bytes"] for recorded in manifest["files"].values()))

    def _fetch_files(self, key: str, paths: Mapping[str, Path], recorded: Mapping[str, Any]) -> None:
        for name, path in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            for _ in range(TRIES):
                if (
                    self._objects.fetch(_file(key, recorded[name]), path)
                    and file_digest(path) == recorded[name]["sha256"]
                ):
                    break
            else:
                raise damaged(f"{self.address}/{_file(key, recorded[name])}")

    def _verified_content(self, key: str, recorded: Mapping[str, Any]) -> bytes:
        for _ in range(TRIES):
            content = self._objects.read(_file(key, recorded))
            if content is not None and sha256(content).hexdigest() == recorded["sha256"]:
                return content
        raise damaged(f"{self.address}/{_file(key, recorded)}")

    def _share_environment(self, manifest: Mapping[str, Any]) -> None:
        if environment := super().environment(manifest):
            name = f"{ENVIRONMENTS}/{manifest['environment']}"
            if not self._objects.has(name):
                self._objects.write(name, json.dumps(environment).encode())


def _result(key: str) -> str:
    return f"results/{key[:2]}/{key}"


def _file(key: str, recorded: Mapping[str, Any]) -> str:
    return f"files/{key[:2]}/{key}/{recorded['sha256']}"
