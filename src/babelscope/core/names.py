"""Names that people give, which stand in tables: none that a spreadsheet would take for a formula, and compute."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from babelscope.core.errors import InputError

FORMULA = ("=", "+", "-", "@")
"""What formulas of spreadsheets begin with."""


def name_problem(name: str) -> str:
    """What is wrong with a name for a table; empty if nothing is."""
    if not name.strip().startswith(FORMULA):
        return ""
    return f"should not begin with {name.strip()[0]}, as formulas of spreadsheets do; begin with a letter or a digit"


def checked_name(name: str) -> str:
    """The name, for a declaration; `ValueError` if a spreadsheet would compute it."""
    if problem := name_problem(name):
        raise ValueError(problem)
    return name


def check_name(name: str, given: str) -> None:
    """Refuse a name (`InputError`), which is a part of what was given."""
    if problem := name_problem(name):
        raise InputError(f"{given}: {name!r:.100} {problem}")


Name = Annotated[str, AfterValidator(checked_name)]
"""Of something that rows call so."""
