"""What all writers of files share: names and allowed suffixes."""

from __future__ import annotations

import re
from pathlib import Path

from babelscope.core.errors import InputError

FIGURE_SUFFIXES = (".svg", ".png")


def file_name(title: str) -> str:
    """A title as part of a file's name: `layers-frozen-dependency-parsing`."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def check_suffix(path: Path, allowed: tuple[str, ...]) -> None:
    """Refuse a file of another kind (`InputError`)."""
    if path.suffix not in allowed:
        given = f"the suffix {path.suffix}" if path.suffix else "no suffix"
        raise InputError(f"{path}: {given}; allowed are {' and '.join(allowed)}")
