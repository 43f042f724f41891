"""Files on the disk: who may read them, and how they are put into their places."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from babelscope.core.outside import writing


def share(*paths: Path) -> None:
    """Let files be read and written by all whom the process lets so: libraries leave some to their owner alone."""
    mask = os.umask(0o077)  # there is no other way to ask for it
    os.umask(mask)
    for path in paths:
        mode = stat.S_IMODE(path.stat().st_mode)
        if (shared := mode | (0o666 & ~mask)) != mode:
            path.chmod(shared)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` that takes its place when all went well, file or folder."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with writing(path):
            yield draft
            share(*filter(Path.is_file, [draft, *draft.rglob("*")]))
            draft.replace(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        with suppress(OSError):  # what kept it from being written keeps it from being removed
            draft.unlink()
