"""What a store holds of a plan without its models: rows, outcomes by sentence and manifests, in one compressed file.

With them are the plan itself, what it is of, and what it was computed with and on, so that neither data nor encoders
are needed to tell what was found, and another lab can check it: manifests have the digests of all files, models too.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from lzma import LZMAError, LZMAFile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

from pydantic import ValidationError

from babelscope.core.errors import DataError, InputError, StoreError
from babelscope.core.files import replacing
from babelscope.core.hashing import digest
from babelscope.core.outside import LARGEST_TEXT, opened, read_json
from babelscope.core.step import Step
from babelscope.engine.dropping import drop
from babelscope.engine.environment import FOLDER as ENVIRONMENTS
from babelscope.engine.journal import ROWS
from babelscope.engine.manifest import MANIFEST
from babelscope.engine.mark import FORMAT, FORMAT_FILE
from babelscope.engine.recall import describe, step_of
from babelscope.engine.store import Store
from babelscope.steps import SENTENCES
from babelscope.steps.plan import Plan

ABOUT = "about.json"
"""The file that says what the results are of, and has the steps of the plan in its order, those not done included."""
README = "README.txt"
HOW_TO_READ = """Results of a study computed by Babelscope.

  about.json                     the study's declaration, and every step of its plan with its key
  results/KE/KEY/rows.jsonl      what a step measured, one number a line
  results/KE/KEY/manifest.json   the step, its seconds, SHA-256 of its files (of models, too, which are not here)
  environments/DIGEST.json       code, libraries and machine; manifests name theirs

Compute a sample of the steps again, and compare:  babelscope reproduce THIS-FILE
"""
FILES = (MANIFEST, ROWS, SENTENCES)
"""Of a result."""
UNPACKED, RATIO = 1 << 26, 100
"""An archive becomes so many bytes at most, or so many times what is packed; those of studies become 8 to 20 times."""
WRITTEN = re.compile(
    f"{FORMAT_FILE}|{ABOUT}|{README}|{ENVIRONMENTS}/[0-9a-f]+\\.json|results/[0-9a-f]{{2}}/[0-9a-f]{{64}}/({'|'.join(FILES)})"
)
"""The names of all files that are written."""


class Kept(NamedTuple):
    """What an archive holds."""

    about: dict[str, Any]
    """What the results are of, as it was given."""
    plan: Plan
    store: Store
    """Of what was done of the plan, without the models."""


def pack(about: Mapping[str, Any], plan: Plan, store: Store, file: Path) -> Path:
    """Write the archive of a plan's results as a whole, and give it; the same results give the same bytes.

    Raises:
        InputError: the file cannot be written.
        DamagedResult: a result is not as it was published.
    """
    manifests = {key: store.manifest(key) for key in sorted(store.published(plan.steps))}
    recorded = {key: manifest["files"] for key, manifest in manifests.items()}
    steps = [_portable({"key": key, **describe(step)}) for key, step in plan.steps.items()]
    with replacing(file) as draft, tarfile.open(draft, "w:xz", preset=9) as archive:
        _add(archive, FORMAT_FILE, json.dumps({"format": FORMAT}).encode())
        _add(archive, ABOUT, json.dumps({**about, "steps": steps}).encode())
        _add(archive, README, HOW_TO_READ.encode())
        for name, environment in sorted(_environments(manifests.values(), store).items()):
            _add(archive, f"{ENVIRONMENTS}/{name}.json", json.dumps(environment).encode())
        for name in FILES:  # files of one kind side by side are compressed far better
            for key, files in recorded.items():
                path = Path("results", key[:2], key, name)
                if name == MANIFEST:
                    _add(archive, path.as_posix(), _manifest(manifests[key]))
                elif name in files:
                    _add(archive, path.as_posix(), store.content(key, name, files[name]))
    return file


def _environments(manifests: Iterable[dict[str, Any]], store: Store) -> dict[str, Any]:
    """What results were computed with and on, by digest, as far as that is known."""
    by_name = {manifest.get("environment", ""): manifest for manifest in manifests}
    known = {name: store.environment(manifest) for name, manifest in by_name.items()}
    return {name: environment for name, environment in known.items() if environment}


def _manifest(recorded: dict[str, Any]) -> bytes:
    manifest = _portable(recorded)
    return json.dumps({**manifest, "digest": digest(manifest)}).encode()


def _portable(value: Any) -> Any:
    """Without the folders of the machine that encoders were in: their names take their place, and keys stay."""
    if isinstance(value, list):
        return [_portable(part) for part in value]
    if not isinstance(value, dict):
        return value
    elsewhere = {"place": value["name"]} if _is_encoder(value) else {}
    return {name: _portable(part) for name, part in value.items()} | elsewhere


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


@contextmanager
def unpacked(file: Path, encoders: Mapping[str, Path] | None = None) -> Iterator[Kept]:
    """What an archive holds; its store is gone afterwards.

    Args:
        file: the archive.
        encoders: folders of those that are not installed, by name.

    Raises:
        InputError: it is no archive, does not say what it is of, is not as it was written, or its steps are not those
            of today.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        _unpack(file, folder)
        about = _about(file, folder / ABOUT)
        described = about.pop("steps")
        _place(described, encoders or {})
        plan = _plan(described, file)
        yield Kept(about, plan, _checked(file, folder, plan))


def without_models(kept: Kept) -> Store:
    """The store of what an archive holds, once manifests say that files which are not in it, models, were dropped."""
    store = kept.store
    for key in store.keys():  # noqa: SIM118
        folder = store.place_of(key)
        drop(store, key, [name for name in store.manifest(key)["files"] if not (folder / name).exists()])
    return store


class _Unpacked(LZMAFile):
    """What is compressed in a stream, of which no more is given than rows can become.

    Headers count as well, which `tarfile` reads before anything can be said of them.
    """

    def __init__(self, stream: BinaryIO):
        super().__init__(stream)
        self._stream, self._length = stream, 0

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes, of which `tarfile` asks for a block at a time; `ValueError` where there are too many."""
        part = super().read(size)
        self._length += len(part)
        if self._length > max(UNPACKED, RATIO * self._stream.tell()):
            raise ValueError(f"it becomes more than {RATIO} times as large when it is unpacked")
        return part


def _unpack(file: Path, folder: Path) -> None:
    try:
        with opened(file) as stream, _Unpacked(stream) as whole, tarfile.open(fileobj=whole, mode="r|") as archive:
            for entry in archive:
                _write(archive, entry, folder)
    except (tarfile.TarError, LZMAError, EOFError, ValueError, OSError) as error:
        problem = str(error).partition(":\n")[0]
        raise InputError(f"{file}: not what babelscope bundle writes ({problem}); fetch it again") from None


def _write(archive: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    """One file of an archive: nothing but what `pack` writes, so that it stays in the folder and can be read there."""
    if not (entry.isfile() and not entry.issparse() and WRITTEN.fullmatch(entry.name) and entry.size <= LARGEST_TEXT):
        raise ValueError(f"{entry.name[:200]!r} is no file of a bundle, or too large")
    path, content = folder / entry.name, archive.extractfile(entry)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.read() if content else b"")


def _about(file: Path, path: Path) -> dict[str, Any]:
    """What the results are of, with the descriptions of the steps."""
    if not path.is_file():
        raise InputError(f"{file}: does not say what its rows are of; write it again")
    try:
        about = read_json(path)
    except DataError as error:
        raise InputError(f"{file}: {ABOUT}: {error.problem}; fetch it again") from None
    match about:
        case {"steps": list(described)} if described and all(map(_is_described, described)):
            return dict(about)
    raise InputError(f"{file}: {ABOUT} does not describe the steps of a plan; fetch it again")


def _is_described(value: Any) -> bool:
    match value:
        case {"key": str(), "step": str(), "fields": dict()}:
            return True
    return False


def _checked(file: Path, folder: Path, plan: Plan) -> Store:
    """The store in a folder. What it holds is read once, so that what is wrong with it is a fault of the archive."""
    try:
        store = Store(folder)
        for key in store.keys():  # noqa: SIM118
            if key not in plan.steps:
                raise ValueError(f"holds the result {key}, which is of none of its steps")
            store.rows(key)
            if recorded := store.manifest(key)["files"].get(SENTENCES):
                store.content(key, SENTENCES, recorded)
    except (StoreError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        problem = (
            str(error).partition(";")[0].replace(f"{folder.absolute()}/", "").replace(str(folder.absolute()), "it")
        )
        raise InputError(f"{file}: {problem}; fetch it again, or use the version of Babelscope that wrote it") from None
    return store


def _place(described: list[dict[str, Any]], encoders: Mapping[str, Path]) -> None:
    """Set the folders of this machine that encoders are in; all else stays, which a copy would take memory for."""
    waiting: list[Any] = [described]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and _is_encoder(value) and str(value["name"]) in encoders:
            value["place"] = str(encoders[str(value["name"])])
        inner = value.values() if isinstance(value, dict) else value
        waiting.extend(part for part in inner if part and isinstance(part, dict | list))


def _is_encoder(value: dict[str, Any]) -> bool:
    return {"name", "content", "place"} <= value.keys()


def _plan(described: list[dict[str, Any]], file: Path) -> Plan:
    """The plan of steps that are described in its order."""
    steps: dict[str, Step] = {}
    for about in described:
        try:
            step = step_of(about, steps.__getitem__)
        except (ValidationError, KeyError, TypeError, AttributeError, RecursionError):  # somebody has written it anew
            step = None
        if step is None or step.key != about["key"]:
            raise InputError(
                f"{file}: its step {about['step']} {about['key'][:12]} is another one now; use the version of "
                "Babelscope that computed it, or run again what the rows are of"
            )
        steps[step.key] = step
    return Plan(steps)
