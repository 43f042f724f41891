"""Declared data sets: values that steps carry and read when they run, counted by content in their keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, NonNegativeInt, PositiveInt

from babelscope.core.declaration import Declaration
from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import Sentence
from babelscope.core.tasks import TASKS, Kind, TaskName
from babelscope.corpora import benchmarks, bio, own_treebanks, plain, sources
from babelscope.corpora.entity_sources import entity_file, entity_language, read_entities
from babelscope.corpora.letters import LETTERS, in_its_letters, split_name
from babelscope.corpora.lines import content_digest
from babelscope.corpora.sources import Split
from babelscope.corpora.transliteration import rules_digest
from babelscope.corpora.world_text import WorldLanguage, WorldVersion
from babelscope.world import LANGUAGES, World
from babelscope.world.judgements import DRAWS
from babelscope.world.meaning import NAME_CLASS
from babelscope.world.world import VERSION

WORLD_PREFIX = "world:"

WORLD_TASKS: tuple[str, ...] = ("mlm", "pos", "ner", "parsing", *DRAWS)
_WORLD_TYPES = tuple(sorted(set(NAME_CLASS.values())))

Examples = tuple[Any, ...]
"""What a task reads: `Sentence` for a treebank, `Tagged` for entities, `SentencePair` for the sentence tasks, and for
language modelling sentences as text, words of treebanks separated by spaces."""


class _Data(Declaration):
    """What all data have."""

    task: TaskName
    language: str
    split: Split
    # Data in their own letters keep the keys that they had before there were others.
    letters: Annotated[str | None, Field(exclude_if=lambda letters: letters is None)] = None
    """How they are transliterated, such as `uyghur`; None: they are not."""
    rules: Annotated[str | None, Field(exclude_if=lambda rules: rules is None)] = None
    """The digest of the rules that does it."""

    @property
    def code(self) -> str:
        """What rows call the language: `ug>uyghur`; without the signs that stand between languages there."""
        return re.sub(r"[+:]", "-", self._lettered(self.language))

    def _lettered(self, text: str) -> str:
        return f"{text}{LETTERS}{self.letters}" if self.letters else text


class WorldData(_Data):
    """A task's examples in one language of the world."""

    kind: Literal["world"] = "world"
    language: WorldLanguage
    examples: PositiveInt
    seed: NonNegativeInt = 0
    world_version: WorldVersion = VERSION

    @property
    def name(self) -> str:
        """As studies name it."""
        return self._lettered(WORLD_PREFIX + self.language)

    def read(self) -> Examples:
        """The examples."""
        return _made(self)


class FileData(_Data):
    """The first examples of one split of a treebank, an entity corpus or a benchmark.

    `sha256` is that of the file's content: a file and its gzip are the same data.
    """

    kind: Literal["file"] = "file"
    name: str
    """As studies name it, letters included."""
    examples: PositiveInt | None = None
    entity_types: tuple[tuple[str, str], ...] = ()
    """Pairs of an entity type in the file and what it counts as."""
    allowed: tuple[str, ...] = ()
    """The entity types that may be left then; empty: any."""
    sha256: str

    @property
    def source(self) -> str:
        """The name of the data as they are in the file."""
        return split_name(self.name)[0]

    @property
    def splits_one_file(self) -> bool:
        """Whether all splits are parts of one file, as those of plain text are."""
        family = _family(self.task, self.source)
        return family is _PLAIN or (
            family in (_OWN_TREEBANKS, _WORDS_OF_OWN) and own_treebanks.is_one_file(self.source)
        )

    def read(self) -> Examples:
        """The examples; `DataError` if the file is no longer the one that the study was planned with."""
        return _parsed(self)


Dataset = Annotated[WorldData | FileData, Field(discriminator="kind")]


class _Family(NamedTuple):
    """How the files of a kind of data are named, found and read."""

    prefixes: tuple[str, ...]
    """With which names of such data begin."""
    names: Callable[[TaskName], tuple[str, ...]]
    """How data sets of a task are named."""
    file: Callable[[TaskName, str, Split], Path]
    language: Callable[[str], str]
    """From a data set's name to its language's code."""
    read: Callable[[FileData], Sequence[Any]]


# Tagging, parsing and language modelling read the same treebank.


def _lines(sentences: Iterable[Sentence]) -> list[str]:
    return [" ".join(sentence.forms) for sentence in sentences]


@lru_cache(maxsize=32)
def _world_treebank(seed: int, language: str, split: Split, sentences: int) -> tuple[Sentence, ...]:
    return tuple(World(seed).treebank(language, split, sentences))


@lru_cache(maxsize=32)
def _treebank(name: str, split: Split, sha256: str) -> tuple[Sentence, ...]:
    return tuple(sources.read_split(name, split))


_TREEBANKS = _Family(
    ("UD_",),
    lambda task: ("UD_LANGUAGE-NAME",),
    lambda task, name, split: sources.split_file(name, split),
    lambda name: sources.treebank_language(name).code,
    lambda data: _treebank(data.source, data.split, data.sha256),
)
_OWN_TREEBANKS = _Family(
    (own_treebanks.PREFIX,),
    lambda task: own_treebanks.NAMES,
    lambda task, name, split: own_treebanks.own_file(name, split),
    own_treebanks.own_language,
    lambda data: own_treebanks.read_own(data.source, data.split),
)
_ENTITIES = _Family(
    ("masakhaner2:", "wikiann:"),
    lambda task: ("masakhaner2:CODE", "wikiann:CODE"),
    lambda task, name, split: entity_file(name, split),
    lambda name: entity_language(name).code,
    lambda data: read_entities(data.source, data.split, data.allowed or None, dict(data.entity_types)),
)
_TEXTS = _Family(
    ("glue:", "xnli:"),
    benchmarks.names_for,
    lambda task, name, split: benchmarks.find_examples(task, name, split),
    benchmarks.examples_language,
    lambda data: benchmarks.read_examples(data.task, data.source, data.split),
)
_PLAIN = _Family(
    (plain.NTREX, plain.OWN),
    lambda task: plain.NAMES,
    lambda task, name, split: plain.text_file(name),
    plain.text_language,
    lambda data: plain.read_text(data.source, data.split),
)
_PREMISES = _Family(
    ("xnli:",),
    lambda task: ("xnli:LANGUAGE",),
    lambda task, name, split: benchmarks.find_examples("xnli", name, split),
    benchmarks.examples_language,
    lambda data: list(dict.fromkeys(one.first for one in benchmarks.read_examples("xnli", data.source, data.split))),
)
"""Each once, though it stands in three pairs."""
_WORDS_OF_TREEBANKS = _TREEBANKS._replace(read=lambda data: _lines(_TREEBANKS.read(data)))
_WORDS_OF_OWN = _OWN_TREEBANKS._replace(read=lambda data: _lines(_OWN_TREEBANKS.read(data)))
_FAMILIES: dict[Kind, tuple[_Family, ...]] = {
    "language model": (_WORDS_OF_TREEBANKS, _WORDS_OF_OWN, _PLAIN, _PREMISES),
    "tags": (_TREEBANKS, _OWN_TREEBANKS),
    "trees": (_TREEBANKS, _OWN_TREEBANKS),
    "entities": (_ENTITIES,),
    "classes": (_TEXTS,),
    "degrees": (_TEXTS,),
}


# Many steps of one process read the same data, so the latest are kept.


@lru_cache(maxsize=32)
@in_its_letters
def _made(data: WorldData) -> Examples:
    world, kind = World(data.seed), TASKS[data.task].kind
    if kind == "entities":
        return tuple(world.entities(data.language, data.split, data.examples))
    if kind in ("classes", "degrees"):
        return tuple(world.examples(data.language, data.task, data.split, data.examples))
    sentences = _world_treebank(data.seed, data.language, data.split, data.examples)
    return tuple(_lines(sentences)) if kind == "language model" else sentences


@lru_cache(maxsize=32)
@in_its_letters
def _parsed(data: FileData) -> Examples:
    family = _family(data.task, data.source)
    path = family.file(data.task, data.source, data.split)
    if content_digest(path) != data.sha256:
        raise DataError(path, None, "the file has changed since the study was planned; run the study again")
    return tuple(family.read(data)[: data.examples])


def find(
    task: TaskName,
    name: str,
    split: Split,
    examples: int,
    world_seed: int = 0,
    entity_types: Mapping[str, str] | None = None,
) -> WorldData | FileData:
    """A task's data set of that name (`world:qaa`, `UD_Uyghur-UDT>uyghur`), or an `InputError` with what there is."""
    if name.startswith(WORLD_PREFIX):
        source, letters = split_name(name)
        language = World().member(source.removeprefix(WORLD_PREFIX)).language.code
        if task not in WORLD_TASKS:
            raise _other_data(name, task)
        if entity_types:
            raise InputError(f"entity_types map those of files; {name} always has {', '.join(_WORLD_TYPES)}")
        return WorldData(
            task=task, language=language, split=split, examples=examples, seed=world_seed,
            letters=letters, rules=letters and rules_digest(letters),
        )  # fmt: skip
    if name in LANGUAGES:
        raise InputError(f"{name!r} is a language of the world; its data are named {WORLD_PREFIX}{name}")
    return find_file(task, name, split, examples, entity_types)


def find_file(
    task: TaskName, name: str, split: Split, examples: int | None = None, entity_types: Mapping[str, str] | None = None
) -> FileData:
    """A task's data set in a file, all of it unless a number of examples is given; `InputError` if there is none."""
    source, letters = split_name(name)
    family = _family(task, source)
    language = family.language(source)
    sha256 = content_digest(family.file(task, source, split))
    mapping = tuple(sorted((entity_types or {}).items()))
    return FileData(
        task=task, name=name, language=language, split=split, examples=examples, entity_types=mapping, sha256=sha256,
        letters=letters, rules=letters and rules_digest(letters),
    )  # fmt: skip


def _family(task: TaskName, name: str) -> _Family:
    families = _FAMILIES[TASKS[task].kind]
    found = next((family for family in families if name.startswith(family.prefixes)), None)
    if found is None:
        raise _other_data(name, task)
    return found


def _other_data(name: str, task: TaskName) -> InputError:
    world = (f"{WORLD_PREFIX}CODE",) if task in WORLD_TASKS else ()
    names = (*world, *(name for family in _FAMILIES[TASKS[task].kind] for name in family.names(task)))
    return InputError(f"{name!r} is no data of {task}, whose data sets are named {', '.join(names)}")


def data_labels(data: WorldData | FileData) -> dict[str, str]:
    """The columns that data determine in the rows of whatever is measured on them."""
    return {"language": data.code, "dataset": data.name, "split": data.split}


def check_world_language(code: str) -> None:
    """Refuse a code that is no language of the world."""
    World().member(code)


def entity_types(train: Sequence[WorldData | FileData]) -> tuple[str, ...]:
    """The types of named entities in training data, in alphabetical order; the world always has three."""
    if all(isinstance(data, WorldData) for data in train):
        return _WORLD_TYPES
    return bio.entity_types(sentence for data in train for sentence in data.read())


def limited(data: WorldData | FileData, types: tuple[str, ...]) -> WorldData | FileData:
    """The same data, where an entity of another type is an error."""
    return data.model_copy(update={"allowed": types}) if isinstance(data, FileData) else data
