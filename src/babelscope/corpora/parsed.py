"""Files of CoNLL-U that a process has parsed: each once, as far as it was asked for; large ones once on a machine."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.examples import NO_HEAD, UPOS, Sentence
from babelscope.core.tasks import LINES, Task
from babelscope.corpora.conllu import KNOWN_TAGS, Annotation, read_conllu
from babelscope.corpora.lines import check_unchanged
from babelscope.corpora.parsed_table import as_table, of_table
from babelscope.corpora.prepared import prepared

MOST = 32
"""Files that are kept in memory."""
READING = 2
"""Raise it where `read_conllu` gives something else of the same file."""


class _Parsed(NamedTuple):
    sentences: list[Sentence]
    whole: bool


_latest: OrderedDict[str, _Parsed] = OrderedDict()
"""By the digests of their content, the one that was asked for last at the end."""


def sentences_for(task: Task, path: Path, count: int | None = None, *, sha256: str) -> list[Sentence]:
    """The first sentences of a file, or all, annotated as a task needs it.

    Raises:
        DataError: the file cannot be read, its content has another digest, or a sentence is not annotated so.
    """
    needs, sentences = annotation_of(task), parsed_sentences(path, count, sha256=sha256)
    if not _has(needs, sentences):
        read_conllu(path, count, needs)  # names the line
    return sentences


def _has(annotation: Annotation, sentences: Sequence[Sentence]) -> bool:
    words = (word for sentence in sentences for word in sentence.words)
    match annotation:
        case "any":
            return True
        case "tags":
            return all(word.upos in KNOWN_TAGS for word in words)
        case "trees":
            return all(word.upos in KNOWN_TAGS and word.head != NO_HEAD for word in words)


def annotation_of(task: Task) -> Annotation:
    """What words must have for a task: of text nothing, and of tagging the label, which is seen to with the classes.

    Any other kind of task that reads words may look at all that treebanks have.
    """
    if task.reads == LINES:
        return "any"
    if task.kind != "tagging":
        return "trees"
    return "tags" if task.label == "upos" and task.labels == UPOS else "any"


def parsed_sentences(path: Path, count: int | None = None, *, sha256: str) -> list[Sentence]:
    """The first sentences of a file, or all, annotated or not.

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
        sentences = read_conllu(path, count, "any")
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
