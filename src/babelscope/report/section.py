"""Sections of a report: what each one is, and the table of all that there are.

A section is a function in a file of `sections/`, or of another package (entry point `babelscope.plugins`):

    @section("anisotropy")
    def anisotropy(report, rows):
        yield Section("Anisotropy", tables=[...])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from babelscope.core.errors import BabelscopeError, InputError
from babelscope.core.registry import import_plugins
from babelscope.core.row import Row
from babelscope.report.figures import Figure
from babelscope.report.model import Report
from babelscope.report.tables import Table


@dataclass(frozen=True)
class Section:
    """What a report says about one thing."""

    title: str
    findings: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What for -> the shell commands that do it, one a line."""
    answer: Sequence[str] = ()
    """What it says of the study's question, in a few plain sentences: a page begins with those of its first section, or
    with the first findings of one that has none."""
    warnings: Sequence[str] = ()
    """What to mind before its numbers are believed."""
    rows: Sequence[Row] = ()
    """Those that it claimed; of several sections that one function writes each has all."""
    side_by_side: bool = False
    """Whether the figures stand two in a line where the page is wide enough."""

    def __bool__(self) -> bool:
        """Whether there is anything in it."""
        return bool(self.findings or self.figures or self.tables or self.commands)


Claim = Callable[[Row], bool]
Writer = Callable[[Report, Sequence[Row]], Iterable[Section]]


class Entry(NamedTuple):
    """How a section is written."""

    order: int
    claims: Claim
    write: Writer


REGISTERED: dict[str, Entry] = {}
"""By the name of the module and the function that writes it."""


def section(*kinds: str, claims: Claim | None = None, order: int = 200) -> Callable[[Writer], Writer]:
    """Enter a function in the table of sections. It gets the report and the rows that it claims, in their order.

    It gives one section or several; empty ones are left out. It may read the report's other rows as well. Where it
    gives nothing, its rows are left to the sections after it.

    Args:
        kinds: of the rows that this section shows, so that none below does.
        claims: which rows it shows, where their kind does not say it.
        order: sections stand in this order. Those of single layers and of all other rows come last, from 900 on.
    """

    def of_kinds(row: Row) -> bool:
        return row.kind in kinds

    def enter(write: Writer) -> Writer:
        REGISTERED[f"{write.__module__}.{write.__name__}"] = Entry(order, claims or of_kinds, write)
        return write

    return enter


@contextmanager
def _named_in_errors(name: str) -> Iterator[None]:
    """Say which section of another package failed, and how."""
    try:
        yield
    except Exception as error:
        if isinstance(error, BabelscopeError) or name.startswith("babelscope."):
            raise
        raise InputError(
            f"the section {name} of this report: {type(error).__name__}: {error}", "Mend its package, or uninstall it"
        ) from error


def sections_of(report: Report) -> list[Section]:
    """All sections that the report has something for. Every row is claimed by one at most, the first that does."""
    import_plugins()
    left, sections = list(report.rows), []
    for name, candidate in sorted(REGISTERED.items(), key=lambda registered: registered[1].order):
        own = [row for row in left if candidate.claims(row)]
        with _named_in_errors(name):
            written = [replace(part, rows=part.rows or own) for part in candidate.write(report, own) if part]
        sections += written
        if written and own:
            taken = set(map(id, own))
            left = [row for row in left if id(row) not in taken]
    return sections
