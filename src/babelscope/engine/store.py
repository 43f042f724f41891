"""The content-addressed store: results by the key of the step that made them, published in one atomic move.

Layout of the folder:

    babelscope-store.json   the format's version
    results/ab/KEY/         published: the step's files, rows.jsonl, manifest.json (key abcd...)
    drafts/KEY/             the working folder of an unfinished step, kept after a fault
    claims/KEY.lock         a lock of the operating system while a step runs; it dies with its holder
    damaged/KEY-N/          results that were no longer as they were published
    logs/KEY.txt            what a step printed, and why it failed if it did
    logs/KEY.running        the same while it runs; what was interrupted leaves no other
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from babelscope.core.errors import DamagedResult, StepError, StoreError
from babelscope.core.row import Row, as_record
from babelscope.engine.disk import explained, sync, verify, write_json
from babelscope.engine.manifest import check_files, read_manifest, write_manifest
from babelscope.engine.old_rows import upgraded

FORMAT = 1
NUMBERS = ("value", "low", "high", "p")
"""Columns that hold what was measured."""
FORMAT_FILE, ROWS = "babelscope-store.json", "rows.jsonl"


class Store:
    """A folder of results. Opening one writes nothing: the folder is made by the first step that runs.

    Raises StoreError if `folder` holds something else, or a store of another format.
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder).absolute()
        self._verified: set[str] = set()
        with explained(self.folder):
            _refuse_foreign(self.folder)

    def has(self, key: str) -> bool:
        """Whether the result is published. Its checksums are not looked at."""
        return self._published(key).is_dir()

    def result(self, key: str) -> Path:
        """The folder of a published result. The first call in a process verifies all files (DamagedResult)."""
        if key not in self._verified:
            check_files(self._published(key), self.manifest(key))
            self._verified.add(key)
        return self._published(key)

    def rows(self, key: str) -> list[Row]:
        """The rows of a published result, verified; empty if the step wrote none."""
        manifest = self.manifest(key)
        recorded = manifest["files"].get(ROWS)
        if recorded is None:
            return []
        content = verify(self._published(key) / ROWS, recorded, read=True)
        return upgraded(manifest.get("step", ""), [Row(**json.loads(line)) for line in content.splitlines()])

    def manifest(self, key: str) -> dict[str, Any]:
        """What made a published result: step, files with SHA-256 and bytes, seconds, versions, machine."""
        if not self.has(key):
            raise StoreError(f"{self.folder}: no result {key}; run the study that needs it")
        return read_manifest(self._published(key), key)

    def prepare(self) -> None:
        """Make the store's folders; a StoreError here says that nothing can be written."""
        with explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if not (self.folder / FORMAT_FILE).exists():
                unfinished = self.folder / f"{FORMAT_FILE}.{os.getpid()}"
                write_json(unfinished, {"format": FORMAT})
                unfinished.replace(self.folder / FORMAT_FILE)
            for name in ("results", "drafts", "claims", "damaged", "logs"):
                (self.folder / name).mkdir(exist_ok=True)

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Hold the right to compute `key`; gives False at once if another process has it."""
        path = self.folder / "claims" / f"{key}.lock"
        # A soft lock would outlive a killed holder, so a file system without flock is an error.
        lock = FileLock(path, blocking=False, fallback_to_soft=False)
        with explained(path), suppress(Timeout):
            lock.acquire()
        try:
            yield lock.is_locked
        finally:
            if lock.is_locked:
                # While the lock is held; filelock takes no lock on a file without a name.
                path.unlink(missing_ok=True)
                lock.release()

    def claimed(self, key: str) -> bool:
        """Whether some process is computing `key` now."""
        if not (self.folder / "claims" / f"{key}.lock").exists():
            return False
        with self.claim(key) as free:
            return not free

    def draft(self, key: str) -> Path:
        """The working folder of an unfinished step, with what an interrupted run left in it."""
        path = self.folder / "drafts" / key
        with explained(path):
            path.mkdir(parents=True, exist_ok=True)
        return path

    def write_rows(self, key: str, rows: Iterable[Row]) -> None:
        """Set the rows of a draft. Values come back exactly; NaN and infinities are refused (StepError)."""
        path = self.draft(key) / ROWS
        text = "".join(_row_line(row) for row in rows)
        with explained(path):
            unfinished = path.with_suffix(".draft")
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(path)

    def add_rows(self, key: str, rows: Iterable[Row]) -> None:
        """Add to the rows of a draft, where they are safe from a kill: a long step's journal."""
        path = self.draft(key) / ROWS
        text = "".join(_row_line(row) for row in rows)
        with explained(path), path.open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def rows_so_far(self, key: str, step: str = "") -> list[Row]:
        """The rows of a draft of a step of that class; a last line that a kill has cut short does not count."""
        path = self.folder / "drafts" / key / ROWS
        with explained(path):
            text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return upgraded(step, [Row(**json.loads(line)) for line in whole])

    def publish(self, key: str, about: Mapping[str, Any]) -> Path:
        """Move the draft of `key` among the results, whole or not at all. Publishing twice is harmless.

        `about` joins the manifest: the step's declaration and the seconds it took, as JSON values. The names
        `manifest.json` and `rows.jsonl` in a draft are the store's own.
        """
        draft, target = self.draft(key), self._published(key)
        with explained(draft):
            if not target.is_dir():
                write_manifest(draft, key, about)
                target.parent.mkdir(parents=True, exist_ok=True)
                _move_folder(draft, target)
            shutil.rmtree(draft, ignore_errors=True)
        return target

    def quarantine(self, key: str) -> Path | None:
        """Move a damaged result aside, so that the next run computes it again.

        Returns where it went; None if the result is sound, gone, or in the hands of another process.
        """
        with self.claim(key) as mine:
            if not mine or not self.has(key) or not self._is_damaged(key):
                return None
            names = (self.folder / "damaged" / f"{key}-{n}" for n in itertools.count(1))
            target = next(path for path in names if not path.exists())
            with explained(target):
                self._published(key).rename(target)
            return target

    def log(self, key: str, running: bool = False) -> Path:
        """What a step has printed, and why it failed if it did: under one name while it runs, another when it ended."""
        return self.folder / "logs" / f"{key}.{'running' if running else 'txt'}"

    def _published(self, key: str) -> Path:
        return self.folder / "results" / key[:2] / key

    def _is_damaged(self, key: str) -> bool:
        self._verified.discard(key)
        try:
            self.result(key)
        except DamagedResult:
            return True
        return False


def _refuse_foreign(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder}: not a folder; give --store a folder")
    marker = folder / FORMAT_FILE
    if not marker.exists():
        if folder.exists() and any(not file.name.startswith(FORMAT_FILE) for file in folder.iterdir()):
            raise StoreError(f"{folder}: neither empty nor a store; give --store a new or an empty folder")
        return
    try:
        version = json.loads(marker.read_bytes())["format"]
    except (ValueError, KeyError, TypeError):
        raise StoreError(f'{marker}: unreadable; it should say {{"format": {FORMAT}}}') from None
    if version != FORMAT:
        raise StoreError(
            f"{folder}: store of format {version!r}, this Babelscope reads format {FORMAT}; "
            "give --store another folder, or use the version of Babelscope that made this one"
        )


def _move_folder(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # published meanwhile: the same result
            raise
    sync(target.parent)


def _row_line(row: Row) -> str:
    numbers = {name: float(number) for name in NUMBERS if (number := getattr(row, name)) is not None}
    for name, number in numbers.items():
        if not isfinite(number):
            raise StepError(f"{row.measure}: the {name} is {number}, and a row needs a finite number; {row}")
    return json.dumps(as_record(row.labelled(**numbers)), allow_nan=False) + "\n"
