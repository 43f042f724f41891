"""Tables and sections on a terminal, wide or narrow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

    from babelscope.report.section import Section

WIDEST = 1000
"""Characters of a table, measured as if there were room for it."""
NARROW = 3
"""Columns of a table that is shown as one, however little room there is."""


def table_of(header: tuple[str, ...], lines: Sequence[tuple[str, ...]], whole: Collection[int] = (0,)) -> Table:
    """Lines under a header, with nothing cut short; the columns at these places are not wrapped either."""
    table = Table(*header, box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(table.columns):
        column.overflow = "fold"  # a name that is cut cannot be copied
        column.no_wrap = place in whole
    for line in lines:
        table.add_row(*map(Text, line))
    return table


def show_section(section: Section, console: Console) -> None:
    """What a section says and lists, without its figures."""
    console.print(f"\n{section.title}", style="bold", markup=False)
    for finding in section.findings:
        console.print(f"- {finding}", markup=False, highlight=False)
    for purpose, lines in section.commands.items():
        console.print(f"- {purpose}:", markup=False, highlight=False)
        for line in lines:
            console.print(f"    {line}", markup=False, highlight=False)
    for table in section.tables:
        records = [tuple(cell.text for cell in line) for line in table.lines]
        drawn = table_of(tuple(table.headers), records, table.numeric)
        room = console.options.update_width(WIDEST)
        if console.measure(drawn, options=room).maximum <= console.width or len(table.headers) <= NARROW:
            console.print(drawn)
        else:
            _show_records(table.headers, records, console)


def _show_records(headers: Sequence[str], lines: Sequence[tuple[str, ...]], console: Console) -> None:
    """A table that is wider than the terminal: under what stands first in a line, the rest by name."""
    for first, *rest in lines:
        console.print(first, style="bold", markup=False, highlight=False)
        named = [f"{header} {text}" for header, text in zip(headers[1:], rest, strict=True) if text]
        console.print(f"    {', '.join(named)}", markup=False, highlight=False)
