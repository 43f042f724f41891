"""Named entities of one's own: `entities:wo:news.bio`, or a folder with a file a split."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.examples import Tagged
from babelscope.core.tasks import ENTITIES, Task
from babelscope.corpora.bio import read_bio
from babelscope.corpora.data_sources.base import DataSource, Wanted
from babelscope.corpora.own_splits import OWN_ENTITIES
from babelscope.corpora.sources import Split


class OwnEntities(DataSource):
    """Files of named entities, in BIO."""

    source: Literal["own entities"] = "own entities"
    prefixes: ClassVar[tuple[str, ...]] = (OWN_ENTITIES.prefix,)
    names: ClassVar[tuple[str, ...]] = (OWN_ENTITIES.form,)
    forms: ClassVar[tuple[str, ...]] = (ENTITIES,)

    def file(self, task: Task, name: str, split: Split) -> Path:
        return OWN_ENTITIES.file(name, split)

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        labels, types = wanted.allowed or None, dict(wanted.entity_types)
        before = f"{self.language(wanted.source)}:"  # of every word of WikiANN as its authors give it

        def read(path: Path, _: int | None) -> list[Tagged]:
            return read_bio(path, labels, types, before)

        return OWN_ENTITIES.read(wanted.source, wanted.split, read, count, wanted.whole)

    def is_divided(self, task: Task, name: str, split: Split) -> bool:
        return OWN_ENTITIES.is_divided(name, split)

    def is_one_file(self, name: str) -> bool:
        return OWN_ENTITIES.is_one_file(name)
