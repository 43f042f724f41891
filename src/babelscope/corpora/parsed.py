"""Files of CoNLL-U that a process has parsed: each once, as far as it was asked for; large ones once on a machine."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.examples import Sentence
from babelscope.core.tasks import LINES, Task
from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.lines import check_unchanged
from babelscope.corpora.parsed_table import as_table, of_table
from babelscope.corpora.prepared import prepared

MOST = 32
"""Files that are kept in memory."""
READING = 1
"""Raise it where `read_conllu` gives something else of the same file."""


class _Parsed(NamedTuple):
    sentences: list[Sentence]
    whole: bool


_latest: OrderedDict[str, _Parsed] = OrderedDict()
"""By the digests of their content, the one that was asked for last at the end."""


def parsed_sentences(path: Path, count: int | None = None, *, sha256: str) -> list[Sentence]:
    """The first sentences of a file, or all, as `read_conllu` gives them.

    Raises:
        DataError: the file cannot be read, or its content has another digest.
    """
    known = _latest.pop(sha256, None)
    if known is None or not (known.whole or (count is not None and count <= len(known.sentences))):
        sentences = _read(path, count, sha256)
        known = _Parsed(sentences, count is None or len(sentences) < count)
    _latest[sha256] = known
    if len(_latest) > MOST:
        _latest.popitem(last=False)
    return known.sentences[:count]


def forget() -> None:
    """Free the memory."""
    _latest.clear()


def _read(path: Path, count: int | None, sha256: str) -> list[Sentence]:
    def parse() -> list[Sentence]:
        sentences = read_conllu(path, count)
        check_unchanged([path], [sha256])  # after it is read: what is kept under a digest is of it
        return sentences

    made_of = ["parsed sentences", READING, sha256, count]
    return prepared(made_of, parse, as_table, of_table)


def as_read(task: Task, sentences: Sequence[Sentence]) -> Sequence[Any]:
    """Sentences in the form that a task reads: as trees, or for language modelling as they were written."""
    return [sentence.written for sentence in sentences] if task.reads == LINES else sentences


def edition(task: Task) -> int:
    """Of what `as_read` gives: the first had syntactic words, separated by spaces, where text is read."""
    return 2 if task.reads == LINES else 1
