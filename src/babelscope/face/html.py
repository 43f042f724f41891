"""Pieces of HTML for notebooks. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(header: Sequence[object], lines: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table with a caption above it."""
    rows = "".join(_row("td", line) for line in lines)
    head = f"<thead>{_row('th', header)}</thead>" if any(header) else ""
    return f"<table>{_caption(caption)}{head}<tbody>{rows}</tbody></table>"


def paragraph(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def _caption(text: str) -> str:
    return f'<caption style="text-align: left">{escape(text)}</caption>' if text else ""


def _row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
