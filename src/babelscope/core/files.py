"""Files on the disk: who may read them."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def share(*paths: Path) -> None:
    """Let files be read and written by all whom the process lets so: libraries leave some to their owner alone."""
    mask = os.umask(0o077)  # there is no other way to ask for it
    os.umask(mask)
    for path in paths:
        mode = stat.S_IMODE(path.stat().st_mode)
        if (shared := mode | (0o666 & ~mask)) != mode:
            path.chmod(shared)
