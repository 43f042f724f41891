"""Treebanks of the user's own, in CoNLL-U: one file, divided, or a folder with a file a split."""

from __future__ import annotations

from babelscope.corpora.own_splits import OwnSplits

PREFIX = "treebank:"
TREEBANKS = OwnSplits(PREFIX, "a treebank", "mt:mudt.conllu", (".conllu",))
