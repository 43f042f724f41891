"""Treebanks of the user's own, in CoNLL-U: one file, divided here, or a folder with a file a split."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import Sentence
from babelscope.core.names import check_name
from babelscope.core.outside import given_path, reading
from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.plain import divided
from babelscope.corpora.sources import SPLITS, Split

PREFIX = "treebank:"
NAMES = ("treebank:CODE:FILE",)


def own_file(name: str, split: Split) -> Path:
    """The file that a split is read from: of a folder, its own (`mt-ud-train.conllu`), or `train` where `dev` has none.

    Raises:
        InputError: it is not named as such treebanks are, or there is no such file.
    """
    code, _, given = name.removeprefix(PREFIX).partition(":")
    if not (code and given):
        raise InputError(f"{name!r}: a treebank of one's own is named {NAMES[0]}, such as treebank:mt:mudt.conllu")
    check_name(code, name)
    path = given_path(given)
    if path.is_file():
        return path
    if not path.is_dir():
        raise InputError(f"{name}: there is no file or folder {path}")
    by_split = {part: _named_after(path, part) for part in SPLITS}
    if twice := next((part for part, files in by_split.items() if len(files) > 1), None):
        there = ", ".join(file.name for file in by_split[twice])
        raise InputError(f"{name}: the folder has several files of the split {twice}: {there}; leave one, or join them")
    files = by_split[split] or (by_split["train"] if split == "dev" else [])
    if not files:
        raise InputError(
            f"{name}: the folder has no file with {split} in its name, such as {code}-{split}.conllu; give it one, or "
            "give a single file"
        )
    return files[0]


def _named_after(folder: Path, split: Split) -> list[Path]:
    """The files with a split's name in theirs, between dots, dashes or underscores."""
    named = re.compile(rf"(?:.*[-_.])?{split}(?:[-_.].*)?\.conllu(?:\.gz)?")
    with reading(folder):
        return sorted(file for file in folder.iterdir() if named.fullmatch(file.name))


def is_one_file(name: str) -> bool:
    """Whether all splits are parts of one file."""
    return not given_path(name.split(":", 2)[2]).is_dir()


def is_divided(name: str, split: Split) -> bool:
    """Whether a folder has no file for `dev`, so that `train` is divided."""
    return not is_one_file(name) and split != "test" and own_file(name, "train") == own_file(name, "dev")


def read_own(
    name: str,
    split: Split,
    read: Callable[[Path, int | None], Sequence[Sentence]] = read_conllu,
    count: int | None = None,
    whole: bool = False,
) -> Sequence[Sentence]:
    """The sentences of a split, or the first `count` of them and perhaps more, as `read` gives them of a file.

    A single file is divided as plain text is, and `train` of a folder without `dev` into itself and `dev`, unless the
    `whole` of it is wanted.

    Raises:
        DataError: the file is malformed, or has too few sentences to be divided.
    """
    path = own_file(name, split)
    alone = is_one_file(name)
    shared = alone or (is_divided(name, split) and not whole)
    sentences = read(path, None if shared else count)
    if shared and len(sentences) < 10:
        raise DataError(path, None, f"{len(sentences)} sentences; a file that is divided takes ten or more")
    if alone:
        return divided(sentences, split)
    if not shared:
        return sentences
    held_out = len(sentences) // 10
    return sentences[:-held_out] if split == "train" else sentences[-held_out:]
