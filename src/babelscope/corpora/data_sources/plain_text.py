"""Plain text: `ntrex:nl`, and files or folders of one's own, `text:nl:news.txt`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.tasks import LINES, Task
from babelscope.corpora import plain
from babelscope.corpora.data_sources.base import DataSource, Wanted
from babelscope.corpora.sources import Split


class PlainText(DataSource):
    """Text to model language on, which is divided."""

    source: Literal["plain text"] = "plain text"
    prefixes: ClassVar[tuple[str, ...]] = (plain.NTREX, plain.OWN)
    names: ClassVar[tuple[str, ...]] = plain.NAMES
    forms: ClassVar[tuple[str, ...]] = (LINES,)

    def file(self, task: Task, name: str, split: Split) -> Path:
        return plain.text_place(name)

    def digest(self, task: Task, name: str, split: Split) -> str:
        return plain.text_digest(name)

    def language(self, name: str) -> str:
        return plain.text_language(name)

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        return plain.read_text(wanted.source, wanted.split)

    def is_one_file(self, name: str) -> bool:
        return True
