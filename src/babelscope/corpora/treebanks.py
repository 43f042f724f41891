"""Declared language data: treebanks and text as values that steps carry, counted by content in their keys."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt

from babelscope.corpora.lines import content_digest
from babelscope.corpora.sources import Split, read_split, split_file, treebank_language
from babelscope.declaration import Declaration
from babelscope.errors import DataError, InputError
from babelscope.text import Sentence
from babelscope.world import FAMILY, World
from babelscope.world.world import VERSION

WORLD_PREFIX = "world:"


def _in_the_world(code: str) -> str:
    if code not in FAMILY:
        raise ValueError(f"the world has no language {code!r}; there are {', '.join(FAMILY)}")
    return code


def _current(version: int) -> int:
    if version != VERSION:
        raise ValueError(f"this Babelscope makes version {VERSION} of the world; leave the version out, or give that")
    return version


WorldLanguage = Annotated[str, AfterValidator(_in_the_world)]
WorldVersion = Annotated[int, AfterValidator(_current)]
"""The data's version is in every key; data of another version cannot be made."""


class WorldText(Declaration):
    """Non-parallel sentences of one language of the world; a share of the words may be another language's.

    Pairs of related sentences can come on top, each pair a line with `[SEP]` between its sentences.
    """

    language: WorldLanguage
    sentences: PositiveInt
    pairs: Annotated[NonNegativeInt, Field(exclude_if=lambda pairs: not pairs)] = 0
    """Lines of pairs besides the sentences. Text without pairs keeps the keys it had before there were any."""
    switched: Annotated[float, Field(ge=0, le=1)] = 0.0
    seed: NonNegativeInt = 0
    world_version: WorldVersion = VERSION

    def read(self) -> list[str]:
        """The sentences, then the pairs; words separated by spaces."""
        world = World(self.seed)
        sentences = world.text(self.language, self.sentences, self.switched)
        return sentences + world.text_pairs(self.language, self.pairs, self.switched)

    def natural(self) -> WorldText:
        """The same sentences without code-switching and without pairs."""
        return self.model_copy(update={"switched": 0.0, "pairs": 0})


class WorldTreebank(Declaration):
    """Annotated sentences of one language of the world."""

    kind: Literal["world"] = "world"
    language: WorldLanguage
    split: Split
    sentences: PositiveInt
    seed: NonNegativeInt = 0
    world_version: WorldVersion = VERSION

    @property
    def name(self) -> str:
        """As studies name it."""
        return WORLD_PREFIX + self.language

    def read(self) -> tuple[Sentence, ...]:
        """The sentences."""
        return _made(self)


class FileTreebank(Declaration):
    """The first sentences of one split of a Universal Dependencies treebank.

    `sha256` is that of the file's content: a file and its gzip are the same data.
    """

    kind: Literal["file"] = "file"
    name: str
    language: str
    split: Split
    sentences: PositiveInt | None = None
    sha256: str

    def read(self) -> tuple[Sentence, ...]:
        """The sentences; `DataError` if the file is no longer the one that the study was planned with."""
        return _parsed(self)


# Many steps of one process read the same treebank, so the latest are kept.


@lru_cache(maxsize=32)
def _made(treebank: WorldTreebank) -> tuple[Sentence, ...]:
    return tuple(World(treebank.seed).treebank(treebank.language, treebank.split, treebank.sentences))


@lru_cache(maxsize=32)
def _parsed(treebank: FileTreebank) -> tuple[Sentence, ...]:
    path = split_file(treebank.name, treebank.split)
    if content_digest(path) != treebank.sha256:
        raise DataError(path, None, "the file has changed since the study was planned; run the study again")
    return tuple(read_split(treebank.name, treebank.split)[: treebank.sentences])


Treebank = Annotated[WorldTreebank | FileTreebank, Field(discriminator="kind")]


def find(name: str, split: Split, sentences: int, world_seed: int = 0) -> WorldTreebank | FileTreebank:
    """The treebank of that name (`world:qaa`, `UD_English-EWT`), or an `InputError` that says what there is."""
    if name.startswith(WORLD_PREFIX):
        language = World().member(name.removeprefix(WORLD_PREFIX)).language.code
        return WorldTreebank(language=language, split=split, sentences=sentences, seed=world_seed)
    if name in FAMILY:
        raise InputError(f"{name!r} is a language of the world; its treebank is named {WORLD_PREFIX}{name}")
    language = treebank_language(name).code
    sha256 = content_digest(split_file(name, split))
    return FileTreebank(name=name, language=language, split=split, sentences=sentences, sha256=sha256)
