"""The content-addressed store: results by the key of the step that made them, published in one atomic move.

Layout of the folder:

    babelscope-store.json   the format's version
    babelscope-index.json   which rows were verified, and when their files had last changed
    babelscope-doubted.txt  the keys of what somebody has found to be damaged, until a run looks
    results/ab/KEY/         published: the step's files, rows.jsonl, manifest.json (key abcd...)
    drafts/KEY/             the working folder of an unfinished step, kept after a fault
    claims/KEY.lock         a lock of the operating system while a step runs; it dies with its holder
    damaged/NAME-N          what was no longer as it was written: results, drafts, what lay in their places
    plans/DIGEST.json       the keys of a plan that a run has begun and not finished
    environments/DIGEST.json   what results were computed with and on; their manifests name it
    logs/KEY.txt            what a step printed, and why it failed if it did
    logs/KEY.course         how far it is, for people who look on (`course`)
    logs/KEY.running        the same while it runs; what was interrupted leaves no other
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from stat import S_ISDIR
from typing import Any

from babelscope.core.crash import crash_point
from babelscope.core.errors import DamagedResult, StoreError
from babelscope.core.row import Row
from babelscope.engine.claims import Locks
from babelscope.engine.disk import bytes_in, explained, move_folder, names_in, verify
from babelscope.engine.environment import environment_of, note_environment, this_environment
from babelscope.engine.index import Index, doubted, doubted_in, forget_doubts, look_at
from babelscope.engine.journal import DIGEST, ROWS, Journal, published_rows
from babelscope.engine.logs import Logs
from babelscope.engine.made_of import MADE_OF, Bits
from babelscope.engine.manifest import MANIFEST, check_files, read_manifest, write_manifest
from babelscope.engine.mark import PARTS, is_shelved, refuse_foreign, write_mark
from babelscope.engine.old_rows import upgraded
from babelscope.engine.plans import Plans
from babelscope.engine.put_back import dropped, put_back


class Store:
    """A folder of results. Opening one writes nothing: the folder is made by the first step that runs.

    Raises StoreError if `folder` holds something else, or a store of another format.
    """

    looking = 0.2  # seconds between two looks at what another process computes
    drops_weights = True  # whether weights can go that nothing reads any more

    def __init__(self, folder: Path | str):
        self.folder = Path(folder).absolute()
        self.address = str(self.folder)  # what it is opened by, here and in other processes
        self._verified: set[str] = set()
        self.bits = Bits(self)
        self._claims = Locks(self.folder / "claims", self._make_way)
        self.plans = Plans(self.folder)
        self.logs = Logs(self.folder, self._make_way)
        with explained(self.folder):
            refuse_foreign(self.folder)

    @property
    def is_there(self) -> bool:
        """Whether anything was ever computed into it."""
        return self.folder.exists()

    def has(self, key: str) -> bool:
        """Whether the result is published. Its checksums are not looked at."""
        return self.place_of(key).is_dir()

    def is_whole(self, key: str) -> bool:
        """Whether the result is published, and none of its files was dropped."""
        with suppress(DamagedResult):  # which its reader finds
            return self.has(key) and not (self.drops_weights and dropped(self.manifest(key)))
        return True

    def published(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys whose results are published, by one look at each folder that they are in."""
        wanted = set(keys)
        return {key for shelf in {key[:2] for key in wanted} for key in self._shelved(shelf)} & wanted

    def keys(self, digits: str = "") -> list[str]:
        """All results that are published, whose keys begin with these digits."""
        shelves = [digits[:2]] if len(digits) > 1 else names_in(self.folder / "results")
        return sorted(key for shelf in shelves for key in self._shelved(shelf) if key.startswith(digits))

    def _shelved(self, shelf: str) -> Iterator[str]:
        there = names_in(self.folder / "results" / shelf, are_folders=True)
        return (name for name in there if is_shelved(name, shelf))

    def result(self, key: str) -> Path:
        """The folder of a published result. The first call in a process verifies all files (DamagedResult)."""
        if key not in self._verified:
            with doubted(self.folder, key):
                manifest = self.manifest(key)
                check_files(self.place_of(key), manifest)
                self.bits.check(key, manifest)
            self._verified.add(key)
        return self.place_of(key)

    def content(self, key: str, name: str, recorded: Mapping[str, Any]) -> bytes:
        """A file of a published result, compared with what its manifest has recorded of it."""
        return verify(self.place_of(key) / name, recorded, read=True)

    def rows(self, key: str) -> list[Row]:
        """The rows of a published result, verified; empty if the step wrote none."""
        step, content = self._verified_rows(key)
        return upgraded(step, published_rows(content, self.place_of(key) / ROWS))

    def damaged(self, keys: Collection[str], *, again: bool = False) -> dict[str, DamagedResult]:
        """Those of the keys whose results' rows are not as they were published, and what is wrong with each.

        Rows that were verified before, and whose files have not changed since, are not read `again` unless it is asked.
        All files are read of those that somebody has found to be damaged.
        """
        index, there, found = Index(self.folder), self.published(keys), {}
        doubtful = doubted_in(self.folder) & there
        for key in doubtful:
            try:
                self.check(key)
            except DamagedResult as error:
                found[key] = error
        forget_doubts(self.folder, doubtful - found.keys())
        for key in filter((there - found.keys()).__contains__, keys):
            seen = look_at(self.place_of(key))
            if again or not index.has(key, seen):
                try:
                    self._verified_rows(key)
                    index.note(key, seen)
                except DamagedResult as error:
                    found[key] = error
        index.save()
        return found

    def manifest(self, key: str) -> dict[str, Any]:
        """What made a published result: step, files with SHA-256 and bytes, seconds, versions, machine."""
        folder = self.place_of(key)
        try:
            return read_manifest(folder, key)
        except DamagedResult:
            if folder.is_dir():
                raise
            raise StoreError(f"{self.folder}: no result {key}; run the study that needs it") from None

    def environment(self, manifest: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a result was computed with and on, by its manifest; None where that was not kept, or is lost."""
        return environment_of(self.folder, manifest)

    def place_of(self, key: str) -> Path:
        """Where a published result is."""
        return Path(f"{self.folder}/results/{key[:2]}/{key}")

    def prepare(self) -> None:
        """Make the store's folders; a StoreError here says that nothing can be written."""
        self.make_folders()
        with self._claims.hold("probe"):  # a file system without locks is better met now than by every step
            pass

    def make_folders(self) -> None:
        """Make those that are missing."""
        with explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_mark(self.folder)
            for path in (self.folder / name for name in PARTS):
                if (path.exists() or path.is_symlink()) and not path.is_dir():
                    raise StoreError(f"{path}: the store needs a folder there: move that away, then run again")
                path.mkdir(exist_ok=True)

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Hold the right to compute `key`; gives False at once if another process has it."""
        return self._claims.hold(key)

    def claimed(self, key: str) -> bool:
        """Whether some process is computing `key` now."""
        return self._claims.is_held(key)

    def running(self, keys: Collection[str] | None = None) -> set[str]:
        """What some process is computing now, of these keys or of all."""
        return {key for key in self._claims.known() if (keys is None or key in keys) and self.claimed(key)}

    def draft(self, key: str) -> Path:
        """The working folder of an unfinished step, with what an interrupted run left in it."""
        path = self.folder / "drafts" / key
        self._claims.check(key)
        self._make_way(path, S_ISDIR)
        with explained(path):
            path.mkdir(parents=True, exist_ok=True)
        return path

    def may_go_on(self, key: str) -> bool:
        """Whether a step that goes on is still claimed by this process. Raises StoreError if the store was moved."""
        self._claims.check(key)
        return True

    def draft_bytes(self, key: str) -> int:
        """What the files of a draft take together; another process may write them."""
        return bytes_in(self.folder / "drafts" / key)

    def renew_draft(self, key: str) -> Path | None:
        """Set a draft aside that no step should go on from: rows are not as they were written, or it holds links.

        Returns where it went; None if the draft is sound or empty.
        """
        draft = self.draft(key)
        with explained(draft):
            misplaced = Journal(draft).is_misplaced() or (draft / MANIFEST).is_dir()
            linked = any(path.is_symlink() for path in draft.rglob("*"))
        return self.abandon_draft(key) if misplaced or linked or not Journal(draft).read().is_sound else None

    def abandon_draft(self, key: str) -> Path:
        """Set a draft aside that no step is to go on from; gives where it is now."""
        return self.set_aside(self.folder / "drafts" / key)

    def write_rows(self, key: str, rows: Iterable[Row]) -> None:
        """Set the rows of a draft. Values come back exactly; NaN and infinities are refused (StepError)."""
        Journal(self.draft(key)).set(rows)

    def add_rows(self, key: str, rows: Iterable[Row]) -> None:
        """Add to the rows of a draft, where they are safe from a kill: a long step's journal."""
        Journal(self.draft(key)).add(rows)

    def rows_so_far(self, key: str, step: str = "") -> list[Row]:
        """The rows of a draft of a step of that class, up to a line that a kill has cut short, or that is damaged."""
        return upgraded(step, Journal(self.folder / "drafts" / key).read().rows)

    def publish(self, key: str, about: Mapping[str, Any]) -> Path:
        """Move the draft of `key` among the results, whole or not at all. Publishing twice is harmless.

        `about` joins the manifest: the step's declaration and the seconds it took, as JSON values. The store's own are
        `manifest.json` and `rows.jsonl` in a draft. Of a result that is there, what was dropped is put back.
        """
        draft, target = self.draft(key), self.place_of(key)
        with explained(draft):
            if not self.has(key):
                crash_point("publication-begun")
                about = {**about, "environment": note_environment(self.folder, this_environment())}
                write_manifest(draft, key, about, without=[DIGEST])
                crash_point("manifest-written")
                Journal(draft).forget_digest()  # the manifest has one, which a kill in between leaves in its place
                self.place(draft, key)
            elif not self.is_whole(key):
                put_back(draft, target, key, about.get(MADE_OF))
            crash_point("publication-moved")
            shutil.rmtree(draft, ignore_errors=True)
        return target

    def place(self, whole: Path, key: str) -> None:
        """Move a whole folder, with the manifest of its files, among the results, unless there is one."""
        target = self.place_of(key)
        for path in (target.parent, target):
            if not path.is_dir():
                self._make_way(path, S_ISDIR)
        self._claims.check(key)
        target.parent.mkdir(parents=True, exist_ok=True)
        move_folder(whole, target)

    def check(self, key: str) -> None:
        """Verify all files of a result again. Raises DamagedResult."""
        self._verified.discard(key)
        self.result(key)

    def quarantine(self, key: str) -> Path | None:
        """Move a damaged result aside, and give where it is; None if it is sound, gone, or another process has it."""
        self.prepare()
        with self.claim(key) as mine:
            sound = not mine or not self.has(key) or not self._is_damaged(key)
            return None if sound else self.set_aside(self.place_of(key))

    def set_aside(self, path: Path) -> Path:
        """Move what is not as it was written to `damaged`; gives where it is now."""
        names = (self.folder / "damaged" / f"{path.name}-{n}" for n in itertools.count(1))
        with explained(path):
            return path.rename(next(name for name in names if not os.path.lexists(name)))

    def _verified_rows(self, key: str) -> tuple[str, bytes]:
        """The class of a result's step, and the very bytes of its rows that were verified."""
        with doubted(self.folder, key):
            manifest = self.manifest(key)
            recorded = manifest["files"].get(ROWS)
            content = self.content(key, ROWS, recorded) if recorded else b""
            self.bits.check(key, manifest)
        return manifest.get("step", ""), content

    def _make_way(self, path: Path, is_usual: Callable[[int], bool]) -> None:
        """Set aside what is in the place of a file or folder of the store, a link say."""
        with suppress(FileNotFoundError, NotADirectoryError):
            if not is_usual(path.lstat().st_mode):
                self.set_aside(path)

    def _is_damaged(self, key: str) -> bool:
        with suppress(DamagedResult):
            self.check(key)
            return False
        return True
