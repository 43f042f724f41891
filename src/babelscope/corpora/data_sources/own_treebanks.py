"""Treebanks of one's own: `treebank:mt:mudt.conllu`, or a folder with a file a split."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.tasks import LINES, TREES, WORDS, Task
from babelscope.corpora.data_sources.base import DataSource, Wanted
from babelscope.corpora.own_splits import OWN_TREEBANKS
from babelscope.corpora.parsed import as_read, edition, sentences_for
from babelscope.corpora.sources import Split


class OwnTreebanks(DataSource):
    """Files of CoNLL-U."""

    source: Literal["own treebanks"] = "own treebanks"
    prefixes: ClassVar[tuple[str, ...]] = (OWN_TREEBANKS.prefix,)
    names: ClassVar[tuple[str, ...]] = (OWN_TREEBANKS.form,)
    forms: ClassVar[tuple[str, ...]] = (WORDS, TREES, LINES)

    def file(self, task: Task, name: str, split: Split) -> Path:
        return OWN_TREEBANKS.file(name, split)

    def edition(self, task: Task) -> int:
        return edition(task)

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        read = partial(sentences_for, wanted.task, sha256=wanted.sha256)
        sentences = OWN_TREEBANKS.read(wanted.source, wanted.split, read, count, wanted.whole)
        return as_read(wanted.task, sentences)

    def is_divided(self, task: Task, name: str, split: Split) -> bool:
        return OWN_TREEBANKS.is_divided(name, split)

    def is_one_file(self, name: str) -> bool:
        return OWN_TREEBANKS.is_one_file(name)
