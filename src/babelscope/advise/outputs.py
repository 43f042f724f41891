"""Where the page, the results and the model are written."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

TITLE = "Which encoder for"
"""What the title of every page of advice begins with."""
VERDICT = "The verdict"
"""The heading of a page that a run has written."""


class Outputs(NamedTuple):
    """Where things are written."""

    page: Path = Path("advice.html")
    store: Path = Path("babelscope-store")
    export: Path | None = None

    @property
    def record(self) -> Path:
        """Beside the page, what a run has decided by."""
        return self.page.with_suffix(".json")
