"""What other installed packages bring. Imports the standard library alone, so that the artificial world can use it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from babelscope.core.errors import InputError


@cache
def import_plugins() -> None:
    """Import the modules that the entry points `babelscope.plugins` of installed packages name.

    Raises:
        InputError: one cannot be imported; says which package it is of.
    """
    for point in entry_points(group="babelscope.plugins"):
        try:
            point.load()
        except Exception as error:  # whatever somebody else's module raises
            package = f" of {point.dist.name}" if point.dist else ""
            raise InputError(
                f"plug-in {point.name}{package} ({point.value}): {type(error).__name__}: {error}",
                "Mend the package, or uninstall it",
            ) from error
