"""What a store holds of a study without its models: rows, outcomes by sentence and manifests, in one compressed file.

The archives in docs/results/rows are what the pages beside them are written from; a report can be made of one, too.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from babelscope.engine.store import FORMAT, FORMAT_FILE, MANIFEST, ROWS, Store
from babelscope.steps import SENTENCES
from babelscope.steps.plan import Plan


def pack(plan: Plan, store: Store, file: Path) -> None:
    """Write the archive of a plan's results; the same results give the same bytes."""
    folders = sorted(store.result(key) for key in plan.steps if store.has(key))
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:xz", preset=9) as archive:
        _add(archive, FORMAT_FILE, json.dumps({"format": FORMAT}).encode())
        for name in (MANIFEST, ROWS, SENTENCES):  # files of one kind side by side are compressed far better
            for folder in folders:
                if (folder / name).is_file():
                    _add(archive, (folder / name).relative_to(store.folder).as_posix(), (folder / name).read_bytes())


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


@contextmanager
def unpacked(file: Path) -> Iterator[Store]:
    """A store of an archive's rows, gone afterwards. Of its results the models are not there."""
    with TemporaryDirectory() as folder:
        with tarfile.open(file) as archive:
            for entry in archive:
                _write(archive, entry, Path(folder))
        yield Store(folder)


def _write(archive: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    """One file of an archive, inside the folder. The library's own safe way is not in all of Python 3.11."""
    path, content = (folder / entry.name).resolve(), archive.extractfile(entry)
    if content is None or not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{archive.name}: {entry.name} is no file inside the archive's folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.read())
