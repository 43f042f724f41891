"""Lists and numbers in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 6) -> str:
    """`a, b and c`; of more than can be read at once the first, and how many more there are. Names may have commas."""
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    comma, last = ("; ", "; and ") if any(", " in name for name in shown) else (", ", " and ")
    return last.join(filter(None, [comma.join(shown[:-1]), *shown[-1:]]))


def counted(number: int, thing: str) -> str:
    """`1 step`, `2,000 steps`, `2 pairs of texts`."""
    first, space, rest = thing.partition(" ")
    return f"{number:,} {first}{'s' if number != 1 else ''}{space}{rest}"
