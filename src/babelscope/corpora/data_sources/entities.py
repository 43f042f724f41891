"""Named entities: MasakhaNER 2 and WikiANN, `masakhaner2:wol`, `wikiann:de`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.tasks import ENTITIES, Task
from babelscope.corpora import entity_sources
from babelscope.corpora.data_sources.base import DataSource, Wanted
from babelscope.corpora.sources import Split


class EntityCorpora(DataSource):
    """Published corpora of named entities, in BIO."""

    source: Literal["entities"] = "entities"
    prefixes: ClassVar[tuple[str, ...]] = ("masakhaner2:", "wikiann:")
    names: ClassVar[tuple[str, ...]] = ("masakhaner2:CODE", "wikiann:CODE")
    forms: ClassVar[tuple[str, ...]] = (ENTITIES,)

    def file(self, task: Task, name: str, split: Split) -> Path:
        return entity_sources.entity_file(name, split)

    def language(self, name: str) -> str:
        return entity_sources.entity_language(name).code

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        mapping = dict(wanted.entity_types)
        return entity_sources.read_entities(wanted.source, wanted.split, wanted.allowed or None, mapping)
