"""A store that machines share without locks that reach all of them: objects there, and a folder here that mirrors them.

Layout of the objects:

    babelscope-remote.json            the format's version
    results/ab/KEY                    the manifest of a published result; put last, and where there is none
    files/ab/KEY/SHA256               its files, by their digests, so that two who publish do not meet
    environments/DIGEST               what results were computed with and on
    plans/DIGEST.json                 the keys of a plan that a run has begun and not finished
    claims/KEY/N                      who computes the step
    drafts/KEY/draft, drafts/KEY/SHA256   what another machine goes on from, if this one dies

The folder has drafts and logs of what runs here, and the results that were computed or read here, the latest of them.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from babelscope.core.errors import DamagedResult, StoreError
from babelscope.core.row import Row
from babelscope.core.step import Interrupted
from babelscope.engine.disk import COPY, bytes_in, explained
from babelscope.engine.environment import note_environment
from babelscope.engine.manifest import read_manifest
from babelscope.engine.plans import FOLDER as PLANS
from babelscope.engine.plans import Plans
from babelscope.engine.sharing.addresses import objects_at
from babelscope.engine.sharing.cache import Cache
from babelscope.engine.sharing.drafts import SavedDrafts
from babelscope.engine.sharing.leases import Lease, Leases
from babelscope.engine.sharing.objects import Objects
from babelscope.engine.sharing.results import AT_ONCE, SharedResults
from babelscope.engine.store import Store

FORMAT, MARK = 1, "babelscope-remote.json"
LOOKING = 2.0
"""Seconds between two looks at what other machines compute."""
SAVING = 600.0
"""Seconds between two times that the draft of a step is saved."""
SMALL = 1 << 20
"""Bytes of a result that is fetched as a whole where its rows are read."""


class RemoteStore(Store):
    """A store at `s3://BUCKET/FOLDER` or `file://FOLDER`, with a folder of this machine.

    Raises StoreError if something else is there, or it cannot be reached.
    """

    drops_weights = False  # copies on other machines would not know

    def __init__(self, address: str, objects: Objects | None = None, cache: Cache | None = None):
        self.objects = objects or objects_at(address)
        self._cache = cache or Cache.of(self.objects.address)
        super().__init__(self._cache.folder)
        self.address = self.objects.address
        self.plans = SharedPlans(self.objects)
        self.results = SharedResults(self.objects)
        self._leases = Leases(self.objects, self._cache.machine)
        self._drafts = SavedDrafts(self.objects)
        self.looking = min(LOOKING, self._leases.beat)
        self._held: dict[str, Lease] = {}
        self._saved: dict[str, float] = {}
        """When the draft of a step was last saved, or it began."""
        self._same: set[str] = set()
        """Results of which the copy here was seen to be that of the store."""
        _refuse_foreign(self.objects)

    @property
    def is_there(self) -> bool:
        """Whether anything was ever computed into it, by whichever machine."""
        return self.objects.has(MARK)

    def has(self, key: str) -> bool:
        """Whether the result is published for all. Its checksums are not looked at."""
        return self.results.has(key)

    def published(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys whose results are published for all; copies here that are of others go."""
        there = self.results.among(set(keys))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            [*pool.map(self._is_here, super().published(there) - self._same)]
        return there

    def keys(self, digits: str = "") -> list[str]:
        """All results that are published, whose keys begin with these digits."""
        return self.results.keys(digits)

    def manifest(self, key: str) -> dict[str, Any]:
        """What made a published result."""
        return super().manifest(key) if self._is_here(key) else self.results.manifest(key)

    def result(self, key: str) -> Path:
        """The folder of a published result, fetched if it is not here, and verified."""
        if not self._is_here(key):
            self._fetch(key)
        self._cache.note_use(self.place_of(key))
        return super().result(key)

    def content(self, key: str, name: str, recorded: Mapping[str, Any]) -> bytes:
        """A file of a published result, compared with what its manifest has recorded of it."""
        return super().content(key, name, recorded) if self._is_here(key) else self.results.content(key, recorded)

    def rows(self, key: str) -> list[Row]:
        """The rows of a published result, verified; of a large one, nothing else is fetched."""
        if not self._is_here(key) and _size(self.results.manifest(key)) <= SMALL:
            self._fetch(key)
        return super().rows(key)

    def damaged(self, keys: Collection[str], *, again: bool = False) -> dict[str, DamagedResult]:
        """Those of the results here whose rows are not as they were published; others are verified when they come."""
        here = {key for key in super().published(keys) if self._is_here(key)}
        return super().damaged([key for key in keys if key in here], again=again)

    def check(self, key: str) -> None:
        """Read all files of a result where they are shared. Raises DamagedResult."""
        self.results.verify(key)
        self.bits.check(key, self.results.manifest(key))

    def environment(self, manifest: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a result was computed with and on; None where that was not kept, or is lost."""
        name = manifest.get("environment")
        if name and super().environment(manifest) is None and (kept := self.results.environment(name)):
            self.make_folders()
            note_environment(self.folder, kept)
        return super().environment(manifest)

    def prepare(self) -> None:
        """Make the folder here, and the mark there; a StoreError says that nothing can be written."""
        self.objects.create(MARK, json.dumps({"format": FORMAT}).encode())
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
                    try:
                        yield True
                    except Interrupted:
                        self._save_draft(key)
                        raise
            finally:
                del self._held[key], self._saved[key]

    def claimed(self, key: str) -> bool:
        """Whether some process is computing `key` now, here or elsewhere."""
        return super().claimed(key) or self._leases.is_held(key)

    def running(self, keys: Collection[str] | None = None) -> set[str]:
        """What some process is computing now, here or elsewhere, of these keys or of all."""
        return {key for key in self._leases.known() if (keys is None or key in keys) and self.claimed(key)}

    def may_go_on(self, key: str) -> bool:
        """Whether no other machine has taken the claim over; the draft is saved if that was not done lately."""
        super().may_go_on(key)
        if time.monotonic() - self._saved[key] >= SAVING:
            self._save_draft(key)
        return not self._held[key].is_lost

    def draft(self, key: str) -> Path:
        """The working folder of an unfinished step, with what an interrupted run left in it, here or elsewhere."""
        self._drafts.fetch(key, self.folder / "drafts" / key)
        return super().draft(key)

    def abandon_draft(self, key: str) -> Path:
        """Set a draft aside that no step is to go on from, here or elsewhere; gives where it is now."""
        self._drafts.forget(key)
        return super().abandon_draft(key)

    def place(self, whole: Path, key: str) -> None:
        """Publish a whole folder, for all and here. Who is first stays."""
        size, is_first = bytes_in(whole), self._share(whole, key)
        if self._is_here(key):  # a copy of what was removed for all
            shutil.rmtree(self.set_aside(self.place_of(key)))
        if is_first:
            super().place(whole, key)
            self._cache.make_room(size)
        self._drafts.forget(key)

    def quarantine(self, key: str) -> Path | None:
        """Set a damaged result aside that is here; what is damaged for all is replaced by what is here, or removed."""
        self.prepare()
        self.results.doubt(key)
        moved = None
        with self.claim(key) as mine:
            if mine and self._is_here(key):
                try:
                    super().check(key)
                except DamagedResult:
                    moved = self.set_aside(self.place_of(key))
            if mine and (not self.results.has(key) or self._is_damaged(key)):
                self.results.remove(key)
                if self._is_here(key):
                    self._share(self.place_of(key), key)
        return moved

    def _is_here(self, key: str) -> bool:
        """Whether this machine has a copy of a result. One goes that is of a result which another has replaced.

        What the store has is looked at once in a process.
        """
        if not super().has(key):
            return False
        if key not in self._same and self.results.has(key):
            if self._is_of_another(key):
                self._verified.discard(key)
                with suppress(StoreError):  # another process was faster
                    shutil.rmtree(self.set_aside(self.place_of(key)))
                return False
            self._same.add(key)
        return True

    def _is_of_another(self, key: str) -> bool:
        """Whether the copy here is a sound one of another result than the store has, which is sound as well."""
        with suppress(StoreError):
            return self.results.manifest(key) != read_manifest(self.place_of(key), key)
        return False

    def _save_draft(self, key: str) -> None:
        """Put a draft where another machine can go on from it. A failure is said in the log, and costs no step."""
        self._saved[key] = time.monotonic()
        if self._held[key].is_lost:  # and another has its own
            return
        try:
            self._drafts.save(key, self.draft(key))
        except StoreError as error:
            print(f"the draft is not saved for other machines: {error}", file=sys.stderr)

    def _share(self, whole: Path, key: str) -> bool:
        """Put a result where all see it; False if there is another one."""
        manifest = read_manifest(whole, key)
        return self.results.put(whole, manifest, super().environment(manifest))

    def _fetch(self, key: str) -> None:
        """Bring a result here, verified."""
        copy = self.folder / "drafts" / f"{key}.{uuid4().hex[:8]}{COPY}"
        with explained(self.folder):
            self.make_folders()
            copy.mkdir()
            try:
                manifest = self.results.fetch(key, copy)
                super().place(copy, key)
            finally:
                shutil.rmtree(copy, ignore_errors=True)
        self._cache.make_room(_size(manifest))


class SharedPlans(Plans):
    """Those of a remote store."""

    def __init__(self, objects: Objects):
        self._objects = objects

    def _write(self, name: str, text: str) -> None:
        self._objects.write(f"{PLANS}/{name}", text.encode())

    def _remove(self, name: str) -> None:
        self._objects.remove(f"{PLANS}/{name}")

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        for name in self._objects.names(PLANS):
            yield f"{self._objects.address}/{PLANS}/{name}", self._objects.read(f"{PLANS}/{name}") or b""


def _size(manifest: Mapping[str, Any]) -> int:
    """Bytes of a result."""
    return sum(recorded["bytes"] for recorded in manifest["files"].values())


def _refuse_foreign(objects: Objects) -> None:
    # Listed before it is read: the mark is put before anything else.
    names = objects.names("")
    content = objects.read(MARK)
    if content is None:
        if names:
            raise StoreError(f"{objects.address}: neither empty nor a store; give --store a new or an empty place")
        return
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        if json.loads(content)["format"] == FORMAT:
            return
    raise StoreError(f"{objects.address}/{MARK}: of another format; this Babelscope reads format {FORMAT}")
