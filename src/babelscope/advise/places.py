"""Whether the page, the results and the model can be written where they should."""

from __future__ import annotations

import os
from pathlib import Path

from babelscope.advise.request import Places
from babelscope.core.errors import InputError

VERDICT = "The verdict"
"""The heading of a page that a run has written."""


def check_places(places: Places, run: bool) -> None:
    """Try the places before anything is computed; nothing is written.

    Raises:
        InputError: one of them cannot be written to, or is there already; says which option names it.
    """
    output, store, export = places
    if not output.resolve().parent.is_dir():
        raise InputError(f"{output}: there is no folder {output.parent}; make it, or give another -o")
    if output.resolve() in [one.resolve() for one in (store, export) if one]:
        raise InputError(f"{output}: given for the page and for a folder; give another -o")
    if output.is_dir():
        raise InputError(f"{output}: a folder; give -o the name of a file")
    _check_writable("-o", output)
    if run:
        _check_writable("--store", store)
    elif output.is_file() and VERDICT in output.read_text(encoding="utf-8", errors="replace"):
        raise InputError(f"{output}: has the verdict of a run, which a plan would replace; give another -o")
    if export is None:
        return
    if not run:
        raise InputError("--export writes a model of a run; give --run too")
    if export.exists():
        raise InputError(
            f"{export}: already there; give --export a name that does not exist yet, or leave it out to see the "
            "verdict of a run that is done"
        )
    if export.resolve().is_relative_to(store.resolve()):
        raise InputError(f"--export {export}: in the store {store}, which keeps results alone; give another folder")
    _check_writable("--export", export)


def _check_writable(option: str, path: Path) -> None:
    """By what is there of the path: it, or the folder that it would be made in."""
    there = next(one for one in (path.resolve(), *path.resolve().parents) if one.exists())
    if there.is_file() and there != path.resolve():
        raise InputError(f"{option} {path}: {there} is a file, so nothing can be in it; give another place")
    if not os.access(there, os.W_OK):
        raise InputError(f"{option} {path}: {there} cannot be written to; give another place, or change its mode")
