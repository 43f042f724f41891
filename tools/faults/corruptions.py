"""Files and folders of stores that are not as they were written: what is wrong is found, repaired, or named."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from babelscope.core.errors import BabelscopeError
from babelscope.engine.index import FORMAT, INDEX, look_at
from babelscope.engine.mark import FORMAT_FILE as MARK
from babelscope.engine.store import Store
from faults.attempts import Attempt, WrongError
from faults.kills import run_in_forks
from faults.mutations import odd_file
from faults.stores import Laboratory, content, strict

HALFWAY = ("weights-moved:3", "rows-moved:2", "rows-added:2", "manifest-written:1", "checkpoint-moved:4")
"""Kills after which there are drafts to corrupt."""
HAVE_DRAFTS = ("checkpoints", "journals", "runs of best weights", "other files of drafts", "drafts", "logs", "claims")
PLACES = {
    "published weights": "results/*/*/*.safetensors",
    "published rows": "results/*/*/rows.jsonl",
    "other published files": "results/*/*/*.json",
    "manifests": "results/*/*/manifest.json",
    "results": "results/*/*",
    "checkpoints": "drafts/*/*.safetensors",
    "journals": "drafts/*/rows.*",
    "runs of best weights": "drafts/*/*.runs",
    "other files of drafts": "drafts/*/*.json",
    "drafts": "drafts/*",
    "logs": "logs/*",
    "claims": "claims/*",
    "index": INDEX,
    "mark": MARK,
    "folders": "*",
}
"""What is corrupted, by patterns of paths in a store."""


def corruption_attempts(laboratory: Laboratory) -> dict[str, Attempt]:
    """For every kind of place stores in which some are corrupted, after a few others."""

    def at(place: str) -> Attempt:
        return strict(lambda chance, folder: _corrupted(laboratory, folder / "store", place, chance))

    return {f"corrupted {place}": at(place) for place in PLACES}


def _corrupted(laboratory: Laboratory, store: Path, place: str, chance: random.Random) -> Counter[str]:
    has_drafts = place in HAVE_DRAFTS or chance.random() < 0.3
    shutil.copytree(_halfway(laboratory, chance) if has_drafts else laboratory.undisturbed, store)
    if place == "index" or chance.random() < 0.5:
        _sworn(store / INDEX, store, chance)
    tally, done = Counter[str](), list[str]()
    there = [other for other, pattern in PLACES.items() if any(store.glob(pattern))]
    for chosen in chance.choices(there, k=5) + [place] * 5:  # so that an index swears to what is damaged
        if paths := sorted(store.glob(PLACES[chosen])):
            path = chance.choice(paths)
            change = chance.choice(_changes(path))
            change(path, store, chance)
            done.append(f"{change.__name__[1:]} {path.relative_to(store)}")
            tally[f"corruption: {chosen}"] += 1
    try:
        _judge(laboratory, store, tally)
    except (WrongError, BabelscopeError) as error:
        raise WrongError(f"{error}\nafter: {'; '.join(done)}") from error
    return tally


def _changes(path: Path) -> tuple[Change, ...]:
    if not path.is_file():
        return ANYWHERE + (OF_FOLDERS if path.is_dir() else ())
    return ANYWHERE + OF_FILES + (OF_INDICES * 5 if path.name == INDEX else ())


def _judge(laboratory: Laboratory, store: Path, tally: Counter[str]) -> None:
    """What is wrong is refused in words or repaired; what is sound stays."""
    # In a copy, since who meets damage removes the index, which is to be there when the study runs.
    copied = shutil.copytree(store, store.parent / "copied", symlinks=True)
    sound = _sound(laboratory, copied)
    laid = {path.name for path in store.glob("drafts/*") if path.name in sound}  # of what is published, which has none
    _mend(laboratory, store, tally)
    laboratory.finish(store, laid)
    if Store(store).damaged(
        laboratory.plan.steps
    ):  # an index swore to them, or runs do not read them: they were read just now
        _mend(laboratory, store, tally)
        laboratory.finish(store, laid)
        if damaged := Store(store).damaged(laboratory.plan.steps):
            raise WrongError(f"rows that stay damaged: {damaged}")
        tally["damage repaired by the run after next, since somebody has read it"] += 1
    if lost := [key for key, manifest in sound.items() if _manifest(store, key).read_bytes() != manifest]:
        raise WrongError(f"computed again though they were sound: {lost}")


def _mend(laboratory: Laboratory, store: Path, tally: Counter[str]) -> None:
    """Run the study, and put right what it names; twice, since of rows that an index swears to no folder is read."""
    for _ in range(2):
        ended = laboratory.run(store).end()
        if ended.status == 2:  # what only a person can put right is named
            tally["damage named, and put right by hand"] += 1
            _put_right(store, ended.output)
        elif ended.status:
            raise WrongError(f"not repaired: {ended}")


def _sound(laboratory: Laboratory, store: Path) -> dict[str, bytes]:
    """The manifests of results that can be read before anything is repaired; other rows than the right ones cannot."""
    sound = {}
    for key in laboratory.plan.steps:
        try:
            laboratory.check(key, content(store, key))
        except BabelscopeError:
            continue
        sound[key] = _manifest(store, key).read_bytes()
    return sound


def _manifest(store: Path, key: str) -> Path:
    return store / "results" / key[:2] / key / "manifest.json"


def _put_right(store: Path, said: str) -> None:
    """Remove what is no folder where folders should be, and write the store's mark again.

    A link to a folder may stand where one should be; it goes if it is what was `said` to be wrong.
    """
    for path in store.iterdir():
        if path.is_file() or (path.is_symlink() and (not path.is_dir() or f"{path}:" in said)):
            path.unlink()
        elif path.name == MARK:
            shutil.rmtree(path)
    (store / MARK).write_text('{"format": 1}\n')


def _halfway(laboratory: Laboratory, chance: random.Random) -> Path:
    """A store with drafts."""
    killed_at = chance.choice(HALFWAY)
    store = laboratory.study.parent / f"halfway {killed_at}"
    if not store.exists():
        run_in_forks(laboratory.plan, store, killed_at)
    return store


# What is done to a path


def _flipped(path: Path, store: Path, chance: random.Random) -> None:
    raw = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 8])):
        if raw:
            raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    path.write_bytes(raw)


def _cut(path: Path, store: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size + 1))


def _zeroed(path: Path, store: Path, chance: random.Random) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _longer(path: Path, store: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes() + chance.choice([b"\0" * 512, b"{}\n", b"\xff", path.read_bytes()]))


def _odd(path: Path, store: Path, chance: random.Random) -> None:
    path.write_bytes(odd_file(path.read_text(encoding="utf-8", errors="replace")[:100_000], chance))


def _removed(path: Path, store: Path, chance: random.Random) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _a_file(path: Path, store: Path, chance: random.Random) -> None:
    _removed(path, store, chance)
    path.write_text("holiday")


def _a_folder(path: Path, store: Path, chance: random.Random) -> None:
    _removed(path, store, chance)
    path.mkdir()
    if chance.random() < 0.5:
        (path / "holiday.jpg").touch()


def _a_link(path: Path, store: Path, chance: random.Random) -> None:
    elsewhere = store.parent / f"elsewhere {path.name}"
    if path.exists() and chance.random() < 0.7 and not elsewhere.exists():
        shutil.copytree(path, elsewhere, symlinks=True) if path.is_dir() else shutil.copyfile(path, elsewhere)
    _removed(path, store, chance)
    path.symlink_to(elsewhere)


def _exchanged(path: Path, store: Path, chance: random.Random) -> None:
    """With another of its kind, in this result or another."""
    others = [other for other in store.rglob(path.name if path.is_file() else "*") if other.is_dir() == path.is_dir()]
    other = chance.choice([each for each in others if path not in each.parents and each not in path.parents] or [path])
    aside = store.parent / "aside"
    path.rename(aside)
    if other != path:
        other.rename(path)
    aside.rename(other)


def _with_more(path: Path, store: Path, chance: random.Random) -> None:
    more = path / chance.choice(["more.txt", "rows.jsonl", "manifest.json", "mark"])
    if not more.is_dir():  # as an earlier change has left it
        more.write_text("holiday")


def _sworn(path: Path, store: Path, chance: random.Random) -> None:
    """An index of all results as they are now, damaged or not, and of some that are not there."""
    _write_index(path, {**_stamps(store), "0" * 64: "0" * 32})


def _of_others(path: Path, store: Path, chance: random.Random) -> None:
    """An index of another store: what it says of a result is true of another."""
    stamps = _stamps(store)
    _write_index(path, dict(zip(stamps, chance.sample(list(stamps.values()), len(stamps)), strict=True)))


def _stamps(store: Path) -> dict[str, str]:
    return {result.name: look_at(result).stamp for result in store.glob("results/*/*")}


def _write_index(path: Path, stamps: dict[str, str]) -> None:
    path.write_text(json.dumps({"format": FORMAT, "verified": stamps}))


Change = Callable[[Path, Path, random.Random], None]
ANYWHERE: tuple[Change, ...] = (_removed, _a_file, _a_folder, _a_link, _exchanged)
OF_FILES: tuple[Change, ...] = (_flipped, _flipped, _flipped, _cut, _zeroed, _longer, _odd)
OF_FOLDERS: tuple[Change, ...] = (_with_more,)
OF_INDICES: tuple[Change, ...] = (_sworn, _of_others)
