"""What other installed packages bring. Imports the standard library alone, so that the artificial world can use it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points


@cache
def import_plugins() -> None:
    """Import the modules that the entry points `babelscope.plugins` of installed packages name."""
    for point in entry_points(group="babelscope.plugins"):
        point.load()
