"""What writers of figures share: names and suffixes."""

from __future__ import annotations

import re

FIGURE_SUFFIXES = (".svg", ".png")


def file_name(title: str) -> str:
    """A title as part of a file's name: `layers-frozen-dependency-parsing`."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")
