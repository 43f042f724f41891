"""Whether the page, the results and the model can be written where they should."""

from __future__ import annotations

from pathlib import Path

from babelscope.advise.outputs import TITLE, VERDICT, Outputs
from babelscope.advise.record import read_record
from babelscope.core.errors import InputError, StudyError
from babelscope.core.outside import read_text, reading, writable_path

FIRST = 2000
"""Characters of a page among which its title is."""


def check_outputs(outputs: Outputs, run: bool) -> None:
    """Try where things are to be written before anything is computed; nothing is written.

    Raises:
        InputError: one of them cannot be written to, or is there already; says which option names it.
    """
    page, store, export = outputs
    if page.resolve() in [folder.resolve() for folder in (store, export) if folder]:
        raise InputError(f"{page}: given for the page and for a folder; give another -o")
    if page.is_dir():
        raise InputError(f"{page}: a folder; give -o the name of a file")
    if page == outputs.record:
        raise InputError(f"{page}: what a run has decided by goes there; give -o a page, such as advice.html")
    _check_writable("-o", page)
    if page.is_file() and not _is_page(page):
        raise InputError(f"-o {page}: already there, and no page of advice; give a name that does not exist yet")
    if run:
        _check_writable("--store", store)
        _check_writable("-o", outputs.record)
        _check_record(outputs.record)
    elif page.is_file() and VERDICT in read_text(page):
        raise InputError(f"{page}: has the verdict of a run, which a plan would replace; give another -o")
    if export is None:
        return
    if not run:
        raise InputError("--export writes a model of a run; give --run too")
    if export.resolve() == outputs.record.resolve():
        raise InputError(f"--export {export}: what a run has decided by goes there; give another folder")
    if export.exists():
        raise InputError(
            f"{export}: already there; give --export a name that does not exist yet, or leave it out to see the "
            "verdict of a run that is done"
        )
    if export.resolve().is_relative_to(store.resolve()):
        raise InputError(f"--export {export}: in the store {store}, which keeps results alone; give another folder")
    _check_writable("--export", export)


def _check_record(file: Path) -> None:
    """Refuse a file that no run of `advise` has written."""
    if file.exists():
        try:
            read_record(file)
        except (InputError, StudyError) as error:
            raise InputError(
                f"{file}: already there, and what a run has decided by goes there, beside the page; give another -o "
                f"({error})"
            ) from None


def _is_page(file: Path) -> bool:
    with reading(file), file.open(encoding="utf-8", errors="replace") as text:
        return f"<title>{TITLE} " in text.read(FIRST)


def _check_writable(option: str, path: Path) -> None:
    try:
        writable_path(path)
    except InputError as error:
        raise InputError(f"{option} {error}") from None
