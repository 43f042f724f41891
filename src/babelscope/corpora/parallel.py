"""Parallel texts, line by line, as declared values."""

from __future__ import annotations

from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from babelscope.core.declaration import Declaration
from babelscope.core.errors import DataError, InputError
from babelscope.corpora import plain
from babelscope.corpora.lines import content_digest, numbered_lines
from babelscope.corpora.world_text import WorldLanguage, WorldVersion
from babelscope.world import World
from babelscope.world.world import VERSION


class WorldPairs(Declaration):
    """The same sentences in two languages of the world, which are in no other text or treebank."""

    languages: tuple[WorldLanguage, WorldLanguage]
    """Their codes, such as `qaa` and `qab`."""
    sentences: PositiveInt
    """How many, in each language."""
    seed: NonNegativeInt = 0
    """Of the world."""
    world_version: WorldVersion = VERSION
    """This Babelscope makes no other; leave it out."""

    def read(self) -> list[tuple[str, str]]:
        """The pairs; words separated by spaces."""
        return World(self.seed).parallel_text(*self.languages, self.sentences)


class FilePairs(Declaration):
    """Two files that say the same line by line, or their first lines.

    `sha256` are those of the files' contents: a file and its gzip are the same data.
    """

    names: tuple[str, str]
    sentences: PositiveInt | None = None
    """Pairs of lines."""
    sha256: tuple[str, str]

    def read(self) -> list[tuple[str, str]]:
        """The pairs; `DataError` if a file is no longer the one that the study was planned with."""
        files = [plain.text_file(name) for name in self.names]
        for file, sha256 in zip(files, self.sha256, strict=True):
            if content_digest(file) != sha256:
                raise DataError(file, None, "the file has changed since the study was planned; run the study again")
        return _pairs(self.names, files)[: self.sentences]


def find_pairs(first: str, second: str, sentences: int | None = None) -> FilePairs:
    """Two texts, named as plain texts are, in full unless a number of pairs is given.

    Raises:
        InputError: one of them is no plain text, or there is no such file; they have not equally many lines; or there
            is no line with text in both.
    """
    files = [_file(first), _file(second)]
    _pairs((first, second), files)
    return FilePairs(
        names=(first, second), sentences=sentences, sha256=(content_digest(files[0]), content_digest(files[1]))
    )


def _file(name: str) -> Path:
    if not name.startswith((plain.NTREX, plain.OWN)):
        raise InputError(
            f"{name!r} is no text whose lines can be paired; such are named {', '.join(plain.NAMES)}, and text of the "
            "world is given as {languages: [qaa, qab], sentences: 2000} in place of two names"
        )
    return plain.text_file(name)


def _pairs(names: tuple[str, str], files: list[Path]) -> list[tuple[str, str]]:
    """Line with line, also where empty lines are; a pair without text on one of its sides is left out."""
    first, second = ([line.text.strip() for line in numbered_lines(file)] for file in files)
    if len(first) != len(second):
        raise InputError(
            f"{names[0]} has {len(first)} lines and {names[1]} has {len(second)}; parallel texts have equally many, "
            "and each line says what the same line of the other says"
        )
    if pairs := [pair for pair in zip(first, second, strict=True) if all(pair)]:
        return pairs
    raise InputError(f"{names[0]} and {names[1]} have no line with text in both")
