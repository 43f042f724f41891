"""Labelled files of the user's own, `PREFIX:CODE:FILE`: one file, divided here, or a folder with a file a split."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from babelscope.core.errors import DataError, InputError
from babelscope.core.names import check_name
from babelscope.core.outside import given_path, reading
from babelscope.corpora.lines import numbered_lines
from babelscope.corpora.plain import divided
from babelscope.corpora.raw_text import FIRST, other_kind
from babelscope.corpora.sources import SPLITS, Split

FORMS = ("CoNLL-U", "BIO")
FEWEST = 10
"""Examples of a file that is divided into splits."""
T = TypeVar("T")


class OwnSplits(NamedTuple):
    """How such data of one kind are named."""

    prefix: str
    """With which their names begin, such as `treebank:`."""
    what: str
    """What they are called in messages: `a treebank`."""
    example: str
    """What can stand after the prefix: `mt:mudt.conllu`."""
    endings: tuple[str, ...]
    """With which the names of files in a folder end, the usual one first; `.gz` may follow."""
    format: str = "CoNLL-U"
    """What such a file is."""
    bare: bool = False
    """Whether a name in a folder may also end with the split: `train`."""

    @property
    def form(self) -> str:
        """How they are named, in messages."""
        return f"{self.prefix}CODE:FILE"

    def file(self, name: str, split: Split) -> Path:
        """The file that a split is read from: of a folder its own (`mt-train.conllu`), or `train` if `dev` has none.

        Raises:
            InputError: it is not named as such data are, or there is no such file.
        """
        code, _, given = name.removeprefix(self.prefix).partition(":")
        if not (code and given):
            raise InputError(
                f"{name!r}: {self.what} of one's own is named {self.form}, such as {self.prefix}{self.example}"
            )
        check_name(code, name)
        path = given_path(given)
        if path.is_file():
            return path
        if not path.is_dir():
            raise InputError(f"{name}: there is no file or folder {path.absolute()}")
        return self._of_folder(name, path, split)

    def _of_folder(self, name: str, folder: Path, split: Split) -> Path:
        by_split = {part: self._named_after(folder, part) for part in SPLITS}
        if twice := next((part for part, files in by_split.items() if len(files) > 1), None):
            there = ", ".join(file.name for file in by_split[twice])
            raise InputError(
                f"{name}: the folder has several files of the split {twice}: {there}; leave one, or join them"
            )
        files = by_split[split] or (by_split["train"] if split == "dev" else [])
        if not files:
            usual = f"{name.split(':')[1]}-{split}{self.endings[0]}"
            raise InputError(
                f"{name}: the folder has no file of {self.format} with {split} in its name, such as {usual}; "
                "give it one, or give a single file"
            )
        return files[0]

    def _named_after(self, folder: Path, split: Split) -> list[Path]:
        """The files with a split's name in theirs, between dots, dashes or underscores."""
        ending = f"(?:[-_.].*)?(?:{'|'.join(map(re.escape, self.endings))})"
        named = re.compile(rf"(?:.*[-_.])?{split}(?:{ending}){'?' if self.bare else ''}(?:\.gz)?")
        with reading(folder):
            return sorted(file for file in folder.iterdir() if named.fullmatch(file.name))

    def is_one_file(self, name: str) -> bool:
        """Whether all splits are parts of one file."""
        return not given_path(name.split(":", 2)[2]).is_dir()

    def is_divided(self, name: str, split: Split) -> bool:
        """Whether a folder has no file for `dev`, so that `train` is divided."""
        folder = given_path(name.split(":", 2)[2])
        return folder.is_dir() and split != "test" and not self._named_after(folder, "dev")

    def read(
        self,
        name: str,
        split: Split,
        read: Callable[[Path, int | None], Sequence[T]],
        count: int | None = None,
        whole: bool = False,
    ) -> Sequence[T]:
        """The sentences of a split, or the first `count` of them and perhaps more, as `read` gives them of a file.

        A single file is divided as plain text is, and `train` of a folder without `dev` into itself and `dev`, unless
        the `whole` of it is wanted.

        Raises:
            InputError: as of `file`.
            DataError: the file is malformed, or has too few sentences to be divided.
        """
        path, alone = self.file(name, split), self.is_one_file(name)
        shared = alone or (self.is_divided(name, split) and not whole)
        sentences = self._read(read, path, None if shared else count)
        if shared and len(sentences) < FEWEST:
            raise DataError(path, None, f"{len(sentences)} sentences; a file that is divided takes ten or more")
        if alone:
            return divided(sentences, split)
        if not shared:
            return sentences
        held_out = len(sentences) // 10
        return sentences[:-held_out] if split == "train" else sentences[-held_out:]

    def _read(self, read: Callable[[Path, int | None], Sequence[T]], path: Path, count: int | None) -> Sequence[T]:
        """As `read`; where that finds a fault in a file of another form, the fault is this."""
        try:
            return read(path, count)
        except DataError:
            kind = other_kind([line.text for line in islice(numbered_lines(path), FIRST)])
            if kind not in FORMS or kind == self.format:
                raise
        raise DataError(path, None, f"looks like {kind}, and {self.what} is {self.format}")


OWN_TREEBANKS = OwnSplits("treebank:", "a treebank", "mt:mudt.conllu", (".conllu",))
"""In CoNLL-U."""
OWN_ENTITIES = OwnSplits(
    "entities:",
    "a file of entities",
    "wo:news.bio",
    (".bio", ".txt", ".conll", ".iob", ".iob2", ".tsv"),
    format="BIO",
    bare=True,
)
"""Named entities, in BIO."""
