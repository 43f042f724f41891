"""Tables as plain values: a title, headers, and cells that carry what they sort by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from babelscope.core.intervals import Interval
from babelscope.core.row import Row

LONGEST = 1000
"""Lines of a table in a report; the rest is in the rows."""


@dataclass(frozen=True)
class Cell:
    """What is shown, and the number it sorts by (None: it sorts by its text; an empty cell comes last)."""

    text: str
    number: float | None = None
    keys: Sequence[str] = ()
    """Of the results that the number is of, where lines have several numbers of different ones."""


@dataclass(frozen=True)
class Table:
    """Headers and lines of cells; a column whose cells carry numbers is set to the right."""

    title: str
    headers: Sequence[str]
    lines: Sequence[Sequence[Cell]]
    note: str = ""
    keys: Sequence[Sequence[str]] = ()
    """Of each line the results that its numbers are of; empty: the section's own say it."""

    @property
    def keyed(self) -> bool:
        """Whether the results of its lines are known."""
        return any(self.keys)

    @property
    def linked(self) -> bool:
        """Whether the results of its lines or of its cells are known."""
        return self.keyed or any(cell.keys for line in self.lines for cell in line)

    @property
    def numeric(self) -> set[int]:
        """The columns whose cells carry numbers."""
        return {column for line in self.lines for column, cell in enumerate(line) if cell.number is not None}


HUGE = 1e12
"""From which on numbers are shown with a power of ten."""


def number_cell(value: float | None, form: str) -> Cell:
    """A number in a format, with a minus sign, or in few digits where it is huge; empty for None."""
    if value is None:
        return Cell("")
    return Cell(format(value, form if abs(value) < HUGE else ".2e").replace("-", "−"), value)


def chance_cell(p: float | None) -> Cell:
    """A p value, which no rounding makes 0."""
    return Cell("< 0.001", p) if p is not None and p < 0.001 else number_cell(p, ".3f")


def bounds_cell(bounds: Interval | tuple[float, float] | None, factor: float) -> Cell:
    """The two ends of an interval, times a factor; empty where they are not known."""
    low, high = (bounds.low, bounds.high) if isinstance(bounds, Interval) else bounds or (None, None)
    if low is None or high is None:
        return Cell("")
    return Cell(f"[{low * factor:.2f}, {high * factor:.2f}]".replace("-", "−"), low * factor)


def keys_of(rows: Iterable[Row]) -> list[str]:
    """The results that rows are of, each once."""
    return list(dict.fromkeys(row.key for row in rows if row.key))


def without_empty(headers: Sequence[str], lines: Sequence[Sequence[Cell]]) -> tuple[list[str], list[list[Cell]]]:
    """Headers and lines without the columns that have nothing in them."""
    kept = [column for column in range(len(headers)) if any(line[column].text for line in lines)]
    return [headers[column] for column in kept], [[line[column] for column in kept] for line in lines]


def cut(table: Table) -> Table:
    """The table, or the beginning of one that is longer than anybody reads."""
    if len(table.lines) <= LONGEST:
        return table
    note = f"The first {LONGEST:,} of {len(table.lines):,} lines; the rows hold them all. {table.note}".strip()
    return replace(table, lines=table.lines[:LONGEST], note=note, keys=table.keys[:LONGEST])
