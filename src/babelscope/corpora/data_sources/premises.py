"""The premises of XNLI as plain text, each once, though it stands in three pairs: `xnli:de`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.tasks import LINES, Task
from babelscope.corpora import benchmarks
from babelscope.corpora.data_sources.base import DataSource, Wanted
from babelscope.corpora.sources import Split


class Premises(DataSource):
    """Text to model language on."""

    source: Literal["premises"] = "premises"
    prefixes: ClassVar[tuple[str, ...]] = ("xnli:",)
    names: ClassVar[tuple[str, ...]] = ("xnli:LANGUAGE",)
    forms: ClassVar[tuple[str, ...]] = (LINES,)

    def file(self, task: Task, name: str, split: Split) -> Path:
        return benchmarks.find_examples("xnli", name, split)

    def language(self, name: str) -> str:
        return benchmarks.examples_language(name)

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        pairs = benchmarks.read_examples("xnli", wanted.source, wanted.split, whole=wanted.whole)
        return list(dict.fromkeys(pair.first for pair in pairs))

    def is_divided(self, task: Task, name: str, split: Split) -> bool:
        return benchmarks.is_divided(name, split)
