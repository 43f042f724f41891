"""Wikipedia as plain text: `wikipedia:nl`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.tasks import LINES, Task
from babelscope.corpora import wikipedia
from babelscope.corpora.data_sources.base import DataSource, Wanted
from babelscope.corpora.running_text import EDITION
from babelscope.corpora.sources import Split


class Wikipedia(DataSource):
    """Text to model language on, of the articles of one language."""

    source: Literal["wikipedia"] = "wikipedia"
    prefixes: ClassVar[tuple[str, ...]] = (wikipedia.PREFIX,)
    names: ClassVar[tuple[str, ...]] = wikipedia.NAMES
    forms: ClassVar[tuple[str, ...]] = (LINES,)
    in_order: ClassVar[str] = (
        "one file, whose articles are dealt out: of every ten the first eight to train on, the ninth to select on and "
        "the tenth to test on"
    )

    def file(self, task: Task, name: str, split: Split) -> Path:
        return wikipedia.wikipedia_file(name)

    def edition(self, task: Task) -> int:
        return EDITION

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        return wikipedia.read_wikipedia(self.file(wanted.task, wanted.source, wanted.split), wanted.split, count)

    def is_one_file(self, name: str) -> bool:
        return True
