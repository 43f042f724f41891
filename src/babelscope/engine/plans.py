"""Plans that runs have begun and not finished. The store keeps their keys, so that nothing they need is removed."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from babelscope.core.hashing import digest
from babelscope.engine.disk import explained, names_in, write_text

FOLDER = "plans"


class Unfinished(NamedTuple):
    """A plan that some run has begun."""

    path: Path
    """The file that says so; without it the plan is forgotten."""
    began: str
    keys: frozenset[str]


def note_plan(store: Path, keys: Collection[str]) -> Path:
    """Keep the keys of a plan; gives the file, which is to be removed when all of it is done."""
    path = store / FOLDER / f"{digest(sorted(keys))}.json"
    with explained(path):
        path.parent.mkdir(exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        write_text(unfinished, json.dumps({"began": datetime.now(UTC).isoformat(timespec="seconds"), "keys": [*keys]}))
        unfinished.replace(path)
    return path


def unfinished_plans(store: Path) -> Iterator[Unfinished]:
    """Those of a store. One that cannot be read any more is none."""
    for name in sorted(names_in(store / FOLDER)):
        path = store / FOLDER / name
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            told = json.loads(path.read_bytes())
            yield Unfinished(path, str(told["began"]), frozenset(map(str, told["keys"])))
