"""Labelled texts of one's own, in TSV with a header: `tsv:en:reviews.tsv`, or a folder with a file a split.

The task says which columns have the text and the label. Of a single file `test` is all of it, and `train` and `dev`
are its first nine tenths and its last: a file that is trained on is never tested on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from babelscope.core.errors import InputError
from babelscope.core.tasks import TEXTS, Task
from babelscope.corpora.benchmarks import divided_part
from babelscope.corpora.data_sources.base import DataSource, Wanted, given_path
from babelscope.corpora.lines import the_one
from babelscope.corpora.pairs import labelled_layout, read_pairs
from babelscope.corpora.sources import SPLITS, Split

NAME = "tsv:CODE:FILE"


class Tables(DataSource):
    """Tables of texts."""

    source: Literal["tables"] = "tables"
    prefixes: ClassVar[tuple[str, ...]] = ("tsv:",)
    names: ClassVar[tuple[str, ...]] = (NAME,)
    forms: ClassVar[tuple[str, ...]] = (TEXTS,)

    def file(self, task: Task, name: str, split: Split) -> Path:
        path = given_path(name, NAME, folders=True)
        return path if path.is_file() else _of_folder(name, path, split)

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        task, name, split = wanted.task, wanted.source, wanted.split
        path = self.file(task, name, split)
        examples = read_pairs(path, labelled_layout(task))
        shared = _shared(name, split) and not wanted.whole
        return divided_part(examples, split, path) if shared else examples

    def is_divided(self, task: Task, name: str, split: Split) -> bool:
        return given_path(name, NAME, folders=True).is_dir() and _shared(name, split)


def _shared(name: str, split: Split) -> bool:
    """Whether a file is both what is trained on and what is selected on."""
    path = given_path(name, NAME, folders=True)
    return split != "test" and (path.is_file() or not _files(path, "dev"))


def _of_folder(name: str, folder: Path, split: Split) -> Path:
    """A split's own file, or of `dev` where there is none, that of `train`."""
    wanted: tuple[Split, ...] = ("dev", "train") if split == "dev" else (split,)
    for part in wanted:
        if path := the_one(_files(folder, part)):
            return path
    there = ", ".join(part for part in SPLITS if _files(folder, part))
    raise InputError(f"{name}: the folder has no {wanted[0]}.tsv; it has the splits {there or 'none'}")


def _files(folder: Path, split: Split) -> list[Path]:
    return [path for ending in ("", ".gz") if (path := folder / f"{split}.tsv{ending}").is_file()]
