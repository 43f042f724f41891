"""Treebanks of the user's own, in CoNLL-U: one file, divided here, or a folder with a file a split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from babelscope.core.examples import Sentence
from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.own_splits import OwnSplits
from babelscope.corpora.sources import Split

PREFIX = "treebank:"
_TREEBANKS = OwnSplits(PREFIX, "a treebank", "mt:mudt.conllu", (".conllu",))
NAMES = (_TREEBANKS.form,)

own_file, is_one_file, is_divided = _TREEBANKS.file, _TREEBANKS.is_one_file, _TREEBANKS.is_divided


def read_own(
    name: str,
    split: Split,
    read: Callable[[Path, int | None], Sequence[Sentence]] = read_conllu,
    count: int | None = None,
    whole: bool = False,
) -> Sequence[Sentence]:
    """The sentences of a split; see `OwnSplits.read`."""
    return _TREEBANKS.read(name, split, read, count, whole)
