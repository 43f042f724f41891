"""Declared data sets: values that steps carry and read when they run, counted by content in their keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from babelscope.core.declaration import Declaration
from babelscope.core.errors import DataError, InputError, did_you_mean
from babelscope.core.examples import Sentence
from babelscope.core.outside import given_path
from babelscope.core.tasks import ENTITIES, LINES, TEXTS, TREES, WORDS, Task, task_of
from babelscope.corpora import bio
from babelscope.corpora.absent import NOT_HERE, found
from babelscope.corpora.data_sources import DataSource, source_names, source_of
from babelscope.corpora.letters import LETTERS, in_its_letters, lettered, split_name
from babelscope.corpora.lines import CHANGED
from babelscope.corpora.parsed import as_read
from babelscope.corpora.sources import ALL, Split
from babelscope.corpora.transliteration import rules_digest
from babelscope.corpora.world_text import WorldLanguage, WorldVersion
from babelscope.world import LANGUAGES, World
from babelscope.world.judgements import DRAWS
from babelscope.world.meaning import NAME_CLASS
from babelscope.world.world import VERSION

WORLD_PREFIX = "world:"

_WORLD_TYPES = tuple(sorted(set(NAME_CLASS.values())))

Examples = tuple[Any, ...]
"""What a task reads: `Sentence` for a treebank, `Tagged` for entities, `SentencePair` for the sentence tasks, and for
language modelling sentences as text, those of treebanks as they were written."""


class _Data(Declaration):
    """What all data have."""

    task: Task
    language: str
    split: Split
    # Data in their own letters keep the keys that they had before there were others.
    letters: Annotated[str | None, Field(exclude_if=lambda letters: letters is None)] = None
    """How they are transliterated, such as `uyghur`; None: they are not."""
    rules: Annotated[str | None, Field(exclude_if=lambda rules: rules is None)] = None
    """The digest of the rules that does it."""

    @property
    def code(self) -> str:
        """What rows call the language: `ug>uyghur`; without the signs that stand between languages there.

        A language's own tokenizer has learned the letters that the language is written in. So it is found by this
        code, which is no language's where text is transliterated: that is read with the encoder's tokenizer.
        """
        return re.sub(r"[+:]", "-", lettered(self.language, self.letters))


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
        return lettered(WORLD_PREFIX + self.language, self.letters)

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
    divided: bool = False
    """Whether it is a part of its file because there is none of another split."""
    whole: bool = False
    """Of training data whose last part would be the dev split: all of it, since something else is selected on."""
    sha256: str
    edition: PositiveInt = 1
    """Of the examples that the source makes of a file: in a key, it sets them apart from those of an earlier one."""

    @property
    def source(self) -> str:
        """The name of the data as they are in the file."""
        return split_name(self.name)[0]

    @property
    def is_own(self) -> bool:
        """Whether it is a file of the user's own, by how it is named."""
        return self.name.count(":") > 1

    @property
    def is_here(self) -> bool:
        """Whether there is a file to read; else the number of examples is all that is known."""
        return not self.sha256.startswith(NOT_HERE)

    @property
    def splits_one_file(self) -> bool:
        """Whether all splits are parts of one file, as those of plain text are."""
        return _source(self.task, self.source).is_one_file(self.source)

    @property
    def division(self) -> str:
        """How the splits are parts of one file, or of another split's file; empty where each has its own."""
        source = _source(self.task, self.source)
        if self.splits_one_file:
            return source.in_order
        if not self.divided or (self.whole and source.divides == "train"):
            return ""
        missing: Split = "dev" if source.divides == "train" else "train"
        parts = "is `train`" if self.whole else "is divided: its last tenth is `dev`, and what comes before is `train`"
        return f"it has no {missing} file, so that its {source.divides} file {parts}"

    @property
    def path(self) -> Path:
        """The file that is read, or the folder of several; `InputError` if there is none."""
        return _source(self.task, self.source).file(self.task, self.source, self.split)

    def read(self) -> Examples:
        """The examples; `DataError` if the file is no longer the one that the study was planned with.

        What comes after them in the file need not be looked at: see `check`.
        """
        return _parsed(self)

    def check(self) -> None:
        """Read all of the file, so that a fault behind the examples is found, too.

        Raises:
            InputError: as of `read`.
        """
        self.verify()
        _source(self.task, self.source).read(self, None)
        self.read()

    def verify(self) -> None:
        """Raise a `DataError` if the file is no longer the one that the study was planned with."""
        source = _source(self.task, self.source)
        now = source.digest(self.task, self.source, self.split), source.edition(self.task)
        divided = source.is_divided(self.task, self.source, self.split)
        if (*now, divided) != (self.sha256, self.edition, self.divided):
            raise DataError(self.path, None, CHANGED)


Dataset = Annotated[WorldData | FileData, Field(discriminator="kind")]


# Many steps of one process read the same data, so the latest are kept.


@lru_cache(maxsize=32)
def _world_treebank(seed: int, language: str, split: Split, sentences: int) -> tuple[Sentence, ...]:
    return tuple(World(seed).treebank(language, split, sentences))


@lru_cache(maxsize=32)
@in_its_letters
def _made(data: WorldData) -> Examples:
    world, form = World(data.seed), data.task.reads
    if form == ENTITIES:
        return tuple(world.entities(data.language, data.split, data.examples))
    if form == TEXTS:
        return tuple(world.examples(data.language, data.task.name, data.split, data.examples))
    return tuple(as_read(data.task, _world_treebank(data.seed, data.language, data.split, data.examples)))


@lru_cache(maxsize=32)
@in_its_letters
def _parsed(data: FileData) -> Examples:
    data.verify()
    return tuple(_source(data.task, data.source).read(data, data.examples)[: data.examples])


def find(
    task: str | Task,
    name: str,
    split: Split,
    examples: int,
    world_seed: int = 0,
    entity_types: Mapping[str, str] | None = None,
) -> WorldData | FileData:
    """A task's data set of that name (`world:qaa`, `UD_Uyghur-UDT>uyghur`), or an `InputError` with what there is.

    The task is one of its own, or the name of a built-in one.
    """
    task = task_of(task)
    if name.endswith(LETTERS):
        raise InputError(f"{name!r}: says no transliteration after {LETTERS}; name one, or leave {LETTERS} out")
    if name.startswith(WORLD_PREFIX):
        source, letters = split_name(name)
        language = World().member(source.removeprefix(WORLD_PREFIX)).language.code
        if not _is_of_the_world(task):
            raise _other_data(name, task)
        if entity_types:
            raise InputError(f"entity_types map those of files; {name} always has {', '.join(_WORLD_TYPES)}")
        check_number(name, examples)
        return WorldData(
            task=task, language=language, split=split, examples=examples, seed=world_seed,
            letters=letters, rules=letters and rules_digest(letters),
        )  # fmt: skip
    if name in LANGUAGES:
        raise InputError(f"{name!r} is a language of the world; its data are named {WORLD_PREFIX}{name}")
    return find_file(task, name, split, examples, entity_types)


def find_file(
    task: str | Task,
    name: str,
    split: Split,
    examples: int | None = None,
    entity_types: Mapping[str, str] | None = None,
) -> FileData:
    """A task's data set in a file, all of it unless a number of examples is given; `InputError` if there is none."""
    task = task_of(task)
    own_name, letters = split_name(name)
    source = _source(task, own_name)
    language = source.language(own_name)
    sha256, examples = found(lambda: source.digest(task, own_name, split), own_name, split, examples)
    divided = not sha256.startswith(NOT_HERE) and source.is_divided(task, own_name, split)
    mapping = tuple(sorted((entity_types or {}).items()))
    return FileData(
        task=task, name=name, language=language, split=split, examples=examples, entity_types=mapping, sha256=sha256,
        letters=letters, rules=letters and rules_digest(letters), edition=source.edition(task), divided=divided,
    )  # fmt: skip


def _is_of_the_world(task: Task) -> bool:
    return task.reads in (WORDS, TREES, ENTITIES, LINES) or (task.reads == TEXTS and task.name in DRAWS)


def _source(task: Task, name: str) -> DataSource:
    source = source_of(task, name)
    if source is None:
        raise _other_data(name, task)
    return source


def _other_data(name: str, task: Task) -> InputError:
    world = (f"{WORLD_PREFIX}CODE",) if _is_of_the_world(task) else ()
    names = ", ".join((*world, *source_names(task)))
    prefixes = {each.partition(":")[0] for each in (*world, *source_names(task)) if ":" in each}
    near = did_you_mean(name.partition(":")[0], prefixes)
    own = " or ".join(each for each in source_names(task) if each.endswith(":FILE"))
    file = f"; a file of one's own is named {own}, with the code of its language" if own and _is_file(name) else ""
    return InputError(f"{name!r} is no data of {task}{near}, whose data sets are named {names}{file}")


def _is_file(name: str) -> bool:
    with suppress(InputError):  # there can be no such path
        return given_path(name).is_file()
    return False


def data_labels(data: WorldData | FileData) -> dict[str, str]:
    """The columns that data determine in the rows of whatever is measured on them."""
    return {"language": data.code, "dataset": data.name, "split": data.split}


def check_number(name: str, made: int) -> None:
    """Refuse more examples of the world than memory holds: they are all made, where files have only so many."""
    if made > ALL:
        raise InputError(
            f"{name}: the artificial world has no end; give a number of examples, of which {ALL:,} are the most"
        )


def check_world_language(code: str) -> None:
    """Refuse a code that is no language of the world."""
    World().member(code)


def entity_types(train: Sequence[WorldData | FileData]) -> tuple[str, ...]:
    """The types of named entities in training data, in alphabetical order; the world always has three."""
    if all(isinstance(data, WorldData) or not data.is_here for data in train):
        return _WORLD_TYPES
    return bio.entity_types(sentence for data in train for sentence in data.read())


def limited(data: WorldData | FileData, types: tuple[str, ...]) -> WorldData | FileData:
    """The same data, where an entity of another type is an error."""
    return data.model_copy(update={"allowed": types}) if isinstance(data, FileData) else data
