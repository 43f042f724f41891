"""Treebanks of Universal Dependencies, by their names: `UD_English-EWT`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.tasks import LINES, TREES, WORDS, Task
from babelscope.corpora import sources
from babelscope.corpora.data_sources.base import DataSource, Wanted
from babelscope.corpora.parsed import as_read, edition, sentences_for
from babelscope.corpora.sources import Split


class Treebanks(DataSource):
    """Published treebanks, in CoNLL-U."""

    source: Literal["treebanks"] = "treebanks"
    prefixes: ClassVar[tuple[str, ...]] = ("UD_",)
    names: ClassVar[tuple[str, ...]] = ("UD_LANGUAGE-NAME",)
    forms: ClassVar[tuple[str, ...]] = (WORDS, TREES, LINES)
    divides: ClassVar[Split] = "dev"

    def has(self, name: str) -> bool:
        return super().has(name) and ":" not in name

    def file(self, task: Task, name: str, split: Split) -> Path:
        return sources.split_file(name, split)

    def language(self, name: str) -> str:
        return sources.treebank_language(name).code

    def edition(self, task: Task) -> int:
        return edition(task)

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        read = partial(sentences_for, wanted.task, sha256=wanted.sha256)
        sentences = sources.read_split(wanted.source, wanted.split, read=read, count=count, whole=wanted.whole)
        return as_read(wanted.task, sentences)

    def is_divided(self, task: Task, name: str, split: Split) -> bool:
        return sources.is_divided(name, split)
