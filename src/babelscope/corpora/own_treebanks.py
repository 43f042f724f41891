"""Treebanks of the user's own, in CoNLL-U: one file, divided here, or a folder with a file a split."""

from __future__ import annotations

from pathlib import Path

from babelscope.corpora.conllu import read_conllu
from babelscope.corpora.plain import divided
from babelscope.corpora.sources import Split
from babelscope.errors import DataError, InputError
from babelscope.text import Sentence

PREFIX = "treebank:"
NAMES = ("treebank:CODE:FILE",)


def own_file(name: str, split: Split) -> Path:
    """The file that a split is read from: of a folder, its own (`*train*.conllu`), or `train` where `dev` has none.

    Raises:
        InputError: it is not named as such treebanks are, or there is no such file.
    """
    code, _, given = name.removeprefix(PREFIX).partition(":")
    path = Path(given).expanduser()
    if not (code and given):
        raise InputError(f"{name!r}: a treebank of one's own is named {NAMES[0]}, such as treebank:mt:mudt.conllu")
    if path.is_file():
        return path
    for one in (split, "train") if split == "dev" else (split,):
        if files := sorted((*path.glob(f"*{one}*.conllu"), *path.glob(f"*{one}*.conllu.gz"))):
            return files[0]
    if path.is_dir():
        raise InputError(f"{name}: the folder has no file named *{split}*.conllu; give it one, or a single file")
    raise InputError(f"{name}: there is no file or folder {path}")


def own_language(name: str) -> str:
    """The code of the language."""
    return name.split(":")[1]


def read_own(name: str, split: Split) -> list[Sentence]:
    """The sentences of a split; a single file is divided as plain text is, and `train` into itself and `dev`.

    Raises:
        DataError: the file is malformed, or has too few sentences to be divided.
    """
    path = own_file(name, split)
    sentences = read_conllu(path)
    if len(sentences) < 10:
        raise DataError(path, None, f"{len(sentences)} sentences; to train, select and test takes ten or more")
    if path == Path(name.split(":", 2)[2]).expanduser():
        return divided(sentences, split)
    if split == "test" or path != own_file(name, "train" if split == "dev" else "dev"):
        return sentences
    held_out = len(sentences) // 10
    return sentences[:-held_out] if split == "train" else sentences[-held_out:]
