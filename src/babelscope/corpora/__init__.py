"""Language data: readers of the field's file formats, where files are found, data sets as values, other scripts.

A new source of data sets is a file in `data_sources/`. Readers turn a file into the values of `core.examples`, or
refuse it with the line at fault; nothing here knows of encoders. What a step reads is a declared data set, counted by
content.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babelscope.core.examples import Sentence, Tagged

__all__ = ["read_bio", "read_conllu"]


def read_conllu(path: str | Path) -> list[Sentence]:
    """The sentences of a CoNLL-U file, plain or gzip-compressed.

    Raises:
        DataError: the file cannot be read or is malformed; says where.
    """
    from babelscope.corpora import conllu

    return conllu.read_conllu(Path(path))


def read_bio(path: str | Path) -> list[Tagged]:
    """The sentences of a file of named entities in BIO, plain or gzip-compressed.

    Raises:
        DataError: the file cannot be read or is malformed; says where.
    """
    from babelscope.corpora import bio

    return bio.read_bio(Path(path))
