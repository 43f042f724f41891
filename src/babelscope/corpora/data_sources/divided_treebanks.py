"""Treebanks that have nothing but a test file to speak of, divided: `UD_Bambara-CRB:tenths-8-1-1`.

The test file is divided in its order: so many tenths are `train`, `dev` and `test`. The name says it wherever numbers
stand, since they do not compare with those on the whole test file. Other files of the treebank are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.errors import DataError, InputError
from babelscope.core.tasks import LINES, TREES, WORDS, Task
from babelscope.corpora import sources
from babelscope.corpora.data_sources.base import FEWEST, DataSource, Wanted
from babelscope.corpora.parsed import as_read, edition, sentences_for
from babelscope.corpora.plain import divided
from babelscope.corpora.sources import Split

MARK = ":tenths-"
NAME = f"UD_LANGUAGE-NAME{MARK}TRAIN-DEV-TEST"


class DividedTreebanks(DataSource):
    """Published treebanks, their test files divided as the name says."""

    source: Literal["divided treebanks"] = "divided treebanks"
    names: ClassVar[tuple[str, ...]] = (NAME,)
    forms: ClassVar[tuple[str, ...]] = (WORDS, TREES, LINES)
    in_order: ClassVar[str] = ""

    def has(self, name: str) -> bool:
        return name.startswith("UD_") and ":" in name

    def file(self, task: Task, name: str, split: Split) -> Path:
        treebank, _ = _parts(name)
        return sources.find_treebank(treebank, "test")

    def language(self, name: str) -> str:
        return sources.treebank_language(_parts(name)[0]).code

    def edition(self, task: Task) -> int:
        return edition(task)

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        path = self.file(wanted.task, wanted.source, wanted.split)
        sentences = sentences_for(wanted.task, path, sha256=wanted.sha256)
        if len(sentences) < FEWEST:
            raise DataError(path, None, f"{len(sentences)} sentences; a file that is divided takes {FEWEST} or more")
        return as_read(wanted.task, divided(sentences, wanted.split, _parts(wanted.source)[1]))

    def is_one_file(self, name: str) -> bool:
        return True


def _parts(name: str) -> tuple[str, tuple[int, int, int]]:
    """The treebank, and the tenths of its splits; `InputError` if they are not ten, or a split has none."""
    treebank, _, tenths = name.partition(MARK)
    parts = [int(part) for part in tenths.split("-")] if re.fullmatch(r"\d-\d-\d", tenths) else []
    if sum(parts) != 10 or not all(parts):
        raise InputError(f"{name!r}: a divided treebank is named {NAME}, ten tenths in all, as in UD_X-Y:tenths-8-1-1")
    return treebank, (parts[0], parts[1], parts[2])
