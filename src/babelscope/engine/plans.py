"""Plans that runs have begun and not finished. The store keeps their keys, so that nothing they need is removed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from babelscope.core.hashing import digest
from babelscope.engine.disk import MISPLACED, explained, names_in, read_file, replace_text

FOLDER, END = "plans", ".json"


class Unfinished(NamedTuple):
    """A plan that some run has begun."""

    place: str
    """Of the file that says so; without it the plan is forgotten."""
    began: str
    keys: frozenset[str]


class Plans:
    """Those of a store's folder."""

    def __init__(self, folder: Path):
        self._folder = folder / FOLDER

    def note(self, keys: Collection[str]) -> None:
        """Keep the keys of a plan that begins now."""
        told = {"began": datetime.now(UTC).isoformat(timespec="seconds"), "keys": [*keys]}
        self._write(_name(keys), json.dumps(told))

    def forget(self, keys: Collection[str]) -> None:
        """All of a plan is done. Nothing is written where it was not noted."""
        name = _name(keys)
        if any(place.endswith(name) for place, _ in self._contents()):
            self._remove(name)

    def unfinished(self) -> Iterator[Unfinished]:
        """Those that were noted and not forgotten. One that cannot be read any more is none."""
        for place, content in self._contents():
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                told = json.loads(content)
                yield Unfinished(place, str(told["began"]), frozenset(map(str, told["keys"])))

    def _write(self, name: str, text: str) -> None:
        with explained(self._folder):
            self._folder.mkdir(exist_ok=True)
            replace_text(self._folder / name, text)

    def _remove(self, name: str) -> None:
        with explained(self._folder):
            (self._folder / name).unlink(missing_ok=True)

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        """Where each is, and what it says."""
        for path in (self._folder / name for name in sorted(names_in(self._folder)) if name.endswith(END)):
            with explained(path), suppress(*MISPLACED):
                yield str(path), read_file(path)


def _name(keys: Collection[str]) -> str:
    return f"{digest(sorted(keys))}{END}"
