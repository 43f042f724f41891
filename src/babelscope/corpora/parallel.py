"""Parallel texts, line by line, as declared values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import NonNegativeInt, PositiveInt

from babelscope.core.declaration import Count, Declaration
from babelscope.core.errors import InputError, did_you_mean
from babelscope.corpora import plain
from babelscope.corpora.codes import same_language
from babelscope.corpora.data_sources.base import given_path
from babelscope.corpora.lines import check_unchanged, content_digest
from babelscope.corpora.paired import Pair, paired_lines, table_pairs, tmx_pairs, tmx_source
from babelscope.corpora.raw_text import check_raw
from babelscope.corpora.translations import COLLECTIONS, Collection, translation_files
from babelscope.corpora.world_text import WorldLanguage, WorldVersion
from babelscope.world import World
from babelscope.world.world import VERSION

OWN = ("tsv", "tmx")
NAMES = (*(f"{prefix}:CODE" for prefix in COLLECTIONS), *(f"{prefix}:CODE:FILE" for prefix in OWN))
"""How pairs in one language are named; `:lines-A-B` may follow."""
SOURCE = "en"
_PART = re.compile(r"(?P<text>.+?)(:lines-(?P<first>\d{1,9})-(?P<last>\d{1,9}))?")


class KnownLinks(NamedTuple):
    """Which words of a pair translate each other."""

    sure: list[tuple[int, int]]
    possible: list[tuple[int, int]]
    """Others that may: of words without a meaning, such as full stops, nothing is known."""


class WorldPairs(Declaration):
    """The same sentences in two languages of the world, drawn for them alone: few are in another text or treebank."""

    languages: tuple[WorldLanguage, WorldLanguage]
    """Their codes, such as `qaa` and `qab`."""
    sentences: Count
    """How many sentences in each language."""
    seed: NonNegativeInt = 0
    """The seed of the world."""
    world_version: WorldVersion = VERSION
    """This Babelscope makes no other version; leave it out."""

    @property
    def source(self) -> str:
        """The code of what the translations are from."""
        return self.languages[0]

    @property
    def language(self) -> str:
        """The code of the translations."""
        return self.languages[1]

    def read(self) -> list[tuple[str, str]]:
        """The pairs; words separated by spaces."""
        return World(self.seed).parallel_text(*self.languages, self.sentences)

    def alignments(self) -> list[KnownLinks]:
        """Of each pair the words that translate each other, counted from 0."""
        aligned = World(self.seed).aligned_text(*self.languages, self.sentences)
        return [KnownLinks(each.alignment(*self.languages), each.possible(*self.languages)) for each in aligned]


class FilePairs(Declaration):
    """Two files that say the same line by line, or their first lines.

    `sha256` are those of the files' contents: a file and its gzip are the same data.
    """

    names: tuple[str, str]
    sentences: PositiveInt | None = None
    """Pairs of lines."""
    sha256: tuple[str, str]

    @property
    def source(self) -> str:
        """The code of what the translations are from: that of the first text."""
        return plain.text_language(self.names[0])

    @property
    def language(self) -> str:
        """The code of the translations: that of the second text."""
        return plain.text_language(self.names[1])

    def read(self) -> list[tuple[str, str]]:
        """The pairs; `DataError` if a file is no longer the one that the study was planned with."""
        files = (plain.text_file(self.names[0]), plain.text_file(self.names[1]))
        check_unchanged(files, self.sha256)
        return _pairs(self.names, files)[: self.sentences]


class Kept(NamedTuple):
    """Pairs that have text on both sides, each once, in their order."""

    pairs: list[Pair]
    empty: int
    """How many were left out since a side has no text."""
    repeated: int
    """How many were left out since the same pair comes before."""

    @classmethod
    def of(cls, pairs: Iterable[Pair], empty: int = 0, repeated: int = 0) -> Kept:
        """What is kept of `pairs`; what was left out before is counted with the rest."""
        given = list(pairs)
        full = [pair for pair in given if all(pair)]
        kept = list(dict.fromkeys(full))
        return cls(kept, empty + len(given) - len(full), repeated + len(full) - len(kept))

    def __str__(self) -> str:
        return f"{len(self.pairs):,} pairs; left out: {self.empty:,} without text on a side, {self.repeated:,} repeated"


class NamedPairs(Declaration):
    """Sentences and their translations by one name, such as `ntrex:de` or `tsv:de:FILE`.

    Of what the files hold, pairs without text on a side and repeated ones are left out. `sha256` are those of the
    files' contents, the source's first where there are two: a file and its gzip are the same data.
    """

    name: str
    """`ntrex:de:lines-1-1597` are the first lines of a text (of TMX: units), counted in the file, so that they are the
    same sentences in every language of NTREX."""
    sentences: PositiveInt | None = None
    """Pairs at most, of those that are kept."""
    sha256: tuple[str, ...]

    @property
    def language(self) -> str:
        """The code of the translations, as it was given."""
        return self.name.split(":")[1]

    @property
    def source(self) -> str | None:
        """The code of what the translations are from; None: a file of one's own does not say it."""
        return SOURCE if self.collection else None

    @property
    def collection(self) -> Collection | None:
        """Whose sentences they are, with licence, attribution and home; None for files of one's own."""
        return COLLECTIONS.get(prefix_of(self.name))

    def kept(self) -> Kept:
        """The pairs, and how many were left out; raises as `read` does."""
        files = _files(self.name)
        check_unchanged(files, self.sha256)
        kept = Kept.of(_part(self.name, files))
        return kept._replace(pairs=kept.pairs[: self.sentences])

    def read(self) -> list[tuple[str, str]]:
        """The pairs; `DataError` if a file is no longer the one that the study was planned with."""
        return self.kept().pairs


ParallelText = WorldPairs | FilePairs | NamedPairs
"""Sentences and their translations, by whichever name."""


def joined(texts: Sequence[ParallelText]) -> Kept:
    """The pairs of several texts, one after the other; what an earlier text has is left out of a later one."""
    parts = [text.kept() if isinstance(text, NamedPairs) else Kept.of(text.read()) for text in texts]
    pairs = [pair for part in parts for pair in part.pairs]
    return Kept.of(pairs, sum(part.empty for part in parts), sum(part.repeated for part in parts))


def check_language(text: ParallelText, language: str, where: str = "") -> None:
    """Refuse translations into another language than the one that they are given for.

    Raises:
        InputError: it begins with `where`.
    """
    if not same_language(text.language, language):
        raise InputError(
            f"{where}the translations are in {text.language}, but the language that they are given for is {language}; "
            f"give translations into {language}, or the code {text.language!r}"
        )


def check_source(text: ParallelText, source: str, where: str = "") -> None:
    """Refuse translations of sentences in another language than the one that a model is to read them in.

    Raises:
        InputError: it begins with `where`.
    """
    said: str | None = text.source
    if isinstance(text, NamedPairs) and prefix_of(text.name) == "tmx":
        said = tmx_source(_files(text.name)[0], text.language)
    if said and not same_language(said, source):
        raise InputError(
            f"{where}the translations are of sentences in {said}, but those that are to be read are in {source}; give "
            f"translations from {source}, or {said!r} as the source"
        )


def find_pairs(first: str, second: str, sentences: int | None = None) -> FilePairs:
    """Two texts, named as plain texts are, in full unless a number of pairs is given.

    Raises:
        InputError: one of them is no plain text, or there is no such file; they have not equally many lines; there is
            no line with text in both; or none says anything else in the second.
    """
    files = (_file(first), _file(second))
    _check_translated(f"{first} and {second}", _pairs((first, second), files))
    return FilePairs(
        names=(first, second), sentences=sentences, sha256=(content_digest(files[0]), content_digest(files[1]))
    )


def find_named_pairs(name: str, sentences: int | None = None) -> NamedPairs:
    """Pairs by one name, read once; all that are kept unless a number is given.

    Raises:
        InputError: nothing is named so, the language or the file is not there, a line is malformed, the part is not in
            the text, no pair is left, or in all that are the translation is the sentence.
    """
    files = _files(name)
    if not (pairs := Kept.of(_part(name, files)).pairs):
        raise InputError(f"{name} has no pair with text on both sides")
    _check_translated(name, pairs)
    return NamedPairs(name=name, sentences=sentences, sha256=tuple(map(content_digest, files)))


def _check_translated(what: str, pairs: Sequence[Pair]) -> None:
    """Refuse a text beside itself, by which an encoder would learn that the language is the one that it reads."""
    if all(sentence == translation for sentence, translation in pairs):
        raise InputError(f"{what}: all {len(pairs):,} sentences are the same on both sides; give their translations")


def prefix_of(name: str) -> str:
    """What the name of a text begins with, such as `ntrex`."""
    return name.split(":")[0]


def text_and_lines(name: str) -> tuple[str, int, int | None]:
    """The name of the whole text, and the first and last line of the part, counted from 1."""
    parts = _PART.fullmatch(name)
    text = parts["text"] if parts else name
    if parts is None or parts["first"] is None:
        return text, 1, None
    return text, int(parts["first"]), int(parts["last"])


def _files(name: str) -> tuple[Path, ...]:
    text, _, _ = text_and_lines(name)
    if prefix_of(text) in COLLECTIONS and ":" in text:
        return translation_files(text)
    if prefix_of(text) in OWN:
        return (given_path(text, f"{prefix_of(text)}:CODE:FILE"),)
    near = did_you_mean(prefix_of(text), (*COLLECTIONS, *OWN, plain.OWN.rstrip(":")))
    raise InputError(
        f"{name!r} is no text in two languages{near}; such are named {', '.join(NAMES)}, two files that say the same "
        "line by line [text:CODE:FILE, text:CODE:FILE], and text of the world {languages: [qaa, qab], sentences: 2000}"
    )


def _part(name: str, files: tuple[Path, ...]) -> list[Pair]:
    """The pairs of the lines that a name says, with those that are empty."""
    text, first, last = text_and_lines(name)
    pairs = _all_pairs(text, files)
    if last is not None and not 1 <= first <= last <= len(pairs):
        raise InputError(f"{name}: {text} has the lines 1 to {len(pairs)}; a part of it is named {text}:lines-A-B")
    return pairs[first - 1 : last]


def _all_pairs(text: str, files: tuple[Path, ...]) -> list[Pair]:
    if len(files) == 2:
        return paired_lines((f"{text}, {files[0].name},", f"{files[1].name}"), (files[0], files[1]))
    return tmx_pairs(files[0], text.split(":")[1]) if prefix_of(text) == "tmx" else table_pairs(files[0])


def _file(name: str) -> Path:
    if not name.startswith((plain.NTREX, plain.OWN)):
        raise InputError(
            f"{name!r} is no text whose lines can be paired; such are named {', '.join(plain.NAMES)}, and text of the "
            "world is given as {languages: [qaa, qab], sentences: 2000} in place of two names"
        )
    check_raw(path := plain.text_file(name), "give one sentence a line, in a file named .txt")
    return path


def _pairs(names: tuple[str, str], files: tuple[Path, Path]) -> list[Pair]:
    """Line with line; a pair without text on one of its sides is left out."""
    if pairs := [pair for pair in paired_lines(names, files) if all(pair)]:
        return pairs
    raise InputError(f"{names[0]} and {names[1]} have no line with text in both")
