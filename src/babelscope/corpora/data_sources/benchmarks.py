"""Sentence tasks of GLUE and XNLI: `glue:RTE`, `xnli:de`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.tasks import TEXTS, Task
from babelscope.corpora import benchmarks
from babelscope.corpora.data_sources.base import DataSource, Wanted
from babelscope.corpora.sources import Split


class Benchmarks(DataSource):
    """Published benchmarks, in TSV; each is data of one task or two."""

    source: Literal["benchmarks"] = "benchmarks"
    prefixes: ClassVar[tuple[str, ...]] = ("glue:", "xnli:")
    forms: ClassVar[tuple[str, ...]] = (TEXTS,)

    def names_for(self, task: Task) -> tuple[str, ...]:
        return benchmarks.names_for(task.name)

    def file(self, task: Task, name: str, split: Split) -> Path:
        return benchmarks.find_examples(task.name, name, split)

    def language(self, name: str) -> str:
        return benchmarks.examples_language(name)

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        return benchmarks.read_examples(wanted.task.name, wanted.source, wanted.split, whole=wanted.whole)

    def is_divided(self, task: Task, name: str, split: Split) -> bool:
        return benchmarks.is_divided(name, split)
