"""What a store holds of a plan without its models: rows, outcomes by sentence and manifests, in one compressed file.

With them are the plan itself and what it is of, so that neither data nor encoders are needed to tell what was found.
The archives in docs/results/rows are what the pages beside them are written from.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from pydantic import ValidationError

from babelscope.core.errors import InputError
from babelscope.core.hashing import digest
from babelscope.core.step import Step
from babelscope.engine.disk import verify
from babelscope.engine.journal import ROWS
from babelscope.engine.manifest import MANIFEST
from babelscope.engine.recall import step_of
from babelscope.engine.store import FORMAT, FORMAT_FILE, Store
from babelscope.engine.worker import describe
from babelscope.steps import SENTENCES
from babelscope.steps.plan import Plan

ABOUT = "about.json"
"""The file that says what the results are of, and has the steps of the plan in its order, those not done included."""


class Kept(NamedTuple):
    """What an archive holds."""

    about: dict[str, Any]
    """What the results are of, as it was given."""
    plan: Plan
    store: Store
    """Of what was done of the plan, without the models."""


def pack(about: Mapping[str, Any], plan: Plan, store: Store, file: Path) -> Path:
    """Write the archive of a plan's results, and give it; the same results give the same bytes."""
    recorded = {key: store.manifest(key)["files"] for key in sorted(plan.steps) if store.has(key)}
    steps = [_portable({"key": key, **describe(step)}) for key, step in plan.steps.items()]
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:xz", preset=9) as archive:
        _add(archive, FORMAT_FILE, json.dumps({"format": FORMAT}).encode())
        _add(archive, ABOUT, json.dumps({**about, "steps": steps}).encode())
        for name in (MANIFEST, ROWS, SENTENCES):  # files of one kind side by side are compressed far better
            for key, files in recorded.items():
                path = Path("results", key[:2], key, name)
                if name == MANIFEST:
                    _add(archive, path.as_posix(), _manifest(store, key))
                elif name in files:
                    _add(archive, path.as_posix(), verify(store.folder / path, files[name], read=True))
    return file


def _manifest(store: Store, key: str) -> bytes:
    manifest = _portable(store.manifest(key))
    return json.dumps({**manifest, "digest": digest(manifest)}).encode()


def _portable(value: Any) -> Any:
    """Without the folders of the machine that encoders were in: their names take their place, and keys stay."""
    if isinstance(value, list):
        return [_portable(part) for part in value]
    if not isinstance(value, dict):
        return value
    of_encoder = {"name", "content", "place"} <= value.keys()
    return {name: value["name"] if of_encoder and name == "place" else _portable(part) for name, part in value.items()}


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


@contextmanager
def unpacked(file: Path) -> Iterator[Kept]:
    """What an archive holds; its store is gone afterwards.

    Raises:
        InputError: it does not say what it is of, or its steps are not those of today.
    """
    with TemporaryDirectory() as folder:
        with tarfile.open(file) as archive:
            for entry in archive:
                _write(archive, entry, Path(folder))
        if not (Path(folder) / ABOUT).is_file():
            raise InputError(f"{file}: does not say what its rows are of; unpack it, and keep it anew with --store")
        about = json.loads((Path(folder) / ABOUT).read_bytes())
        yield Kept(about, _plan(about.pop("steps"), file), Store(folder))


def _write(archive: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    """One file of an archive, inside the folder. The library's own safe way is not in all of Python 3.11."""
    path, content = (folder / entry.name).resolve(), archive.extractfile(entry)
    if content is None or not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{entry.name} is no file inside the archive's folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.read())


def _plan(described: list[dict[str, Any]], file: Path) -> Plan:
    """The plan of steps that are described in its order."""
    steps: dict[str, Step] = {}
    for about in described:
        try:
            step = step_of(about, steps.__getitem__)
        except (ValidationError, KeyError):
            step = None
        if step is None or step.key != about["key"]:
            raise InputError(
                f"{file}: its step {about['step']} {about['key'][:12]} is another one now; run again what the rows are "
                "of, and keep them with --store"
            )
        steps[step.key] = step
    return Plan(steps)
