"""What a source of data sets says of itself, and the table of sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from babelscope.core import outside
from babelscope.core.errors import DataError, InputError
from babelscope.core.names import check_name
from babelscope.core.registry import Registered, import_plugins
from babelscope.core.tasks import Task
from babelscope.corpora.lines import content_digest
from babelscope.corpora.own_splits import FEWEST
from babelscope.corpora.plain import divided
from babelscope.corpora.sources import Split


class Wanted(Protocol):
    """What is to be read."""

    @property
    def task(self) -> Task:
        """Which task's examples."""

    @property
    def source(self) -> str:
        """The name of the data set, without letters."""

    @property
    def split(self) -> Split:
        """Which split."""

    @property
    def sha256(self) -> str:
        """The digest of the file, which is as it was planned."""

    @property
    def entity_types(self) -> tuple[tuple[str, str], ...]:
        """Pairs of an entity type in the file and what it counts as."""

    @property
    def allowed(self) -> tuple[str, ...]:
        """The entity types that may be left then; empty: any."""

    @property
    def whole(self) -> bool:
        """Whether training data whose last part would be the dev split are wanted with it."""


class DataSource(Registered):
    """Data sets whose names begin alike, such as `UD_English-EWT`, and that are found and read alike."""

    by: ClassVar[str] = "source"
    prefixes: ClassVar[tuple[str, ...]]
    """With which names of such data sets begin."""
    names: ClassVar[tuple[str, ...]]
    """How they are named, for messages: `ntrex:CODE`."""
    forms: ClassVar[tuple[str, ...]]
    """The forms of examples that it has (`core.tasks`)."""
    in_order: ClassVar[str] = (
        "one file, divided in its order: eight tenths to train on, one to select on and the last one to test on"
    )
    """How data sets of one file are divided, for messages; empty where their names say it."""
    divides: ClassVar[Split] = "train"
    """Of which split's file `train` and `dev` are parts where `is_divided` says so."""

    def has(self, name: str) -> bool:
        """Whether a data set of that name would be its."""
        return name.startswith(self.prefixes)

    def serves(self, task: Task) -> bool:
        """Whether it has examples of a task."""
        return task.reads in self.forms

    def names_for(self, task: Task) -> tuple[str, ...]:
        """How its data sets of a task that it serves are named."""
        return self.names

    def file(self, task: Task, name: str, split: Split) -> Path:
        """The file that a split is read from; `InputError` if there is none."""
        raise NotImplementedError

    def digest(self, task: Task, name: str, split: Split) -> str:
        """What a split's content is known by."""
        return content_digest(self.file(task, name, split))

    def language(self, name: str) -> str:
        """The code of a data set's language."""
        return name.split(":")[1]

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        """The examples of a split: the first `count` of them at least, or all; `DataError` if they are malformed."""
        raise NotImplementedError

    def edition(self, task: Task) -> int:
        """Which examples a file gives: raise it where they change, so that earlier results do not count as theirs."""
        return 1

    def is_one_file(self, name: str) -> bool:
        """Whether all splits of a data set are parts of one file, so that it can be trained and tested on."""
        return False

    def is_divided(self, task: Task, name: str, split: Split) -> bool:
        """Whether the split is a part of its file because another split has none beside it; with it, it would be all.

        It is in keys: the file's content does not say it.
        """
        return False


class OwnFile(DataSource):
    """A format of the user's own files, named `SOURCE:CODE:FILE`; in their order 8/10 train, 1/10 dev, 1/10 test."""

    def has(self, name: str) -> bool:
        return name.startswith(f"{self.kind}:")

    def names_for(self, task: Task) -> tuple[str, ...]:
        return (f"{self.kind}:CODE:FILE",)

    def file(self, task: Task, name: str, split: Split) -> Path:
        return given_path(name, self.names_for(task)[0])

    def parse(self, path: Path, task: Task) -> Sequence[Any]:
        """All examples of a file.

        Raises:
            DataError: names the line at fault. What else goes wrong (ValueError, TypeError, LookupError) is told as the
                fault of the file.
        """
        raise NotImplementedError

    def read(self, wanted: Wanted, count: int | None) -> Sequence[Any]:
        path = self.file(wanted.task, wanted.source, wanted.split)
        try:
            examples = list(self.parse(path, wanted.task))
        except (ValueError, TypeError, LookupError) as error:
            raise DataError(path, None, f"not in the format of {self.kind}: {error}") from None
        if len(examples) < FEWEST:
            raise DataError(path, None, f"{len(examples)} examples; a file that is divided takes {FEWEST} or more")
        return divided(examples, wanted.split)

    def is_one_file(self, name: str) -> bool:
        return True


def given_path(name: str, form: str, folders: bool = False) -> Path:
    """The file, or folder, of a data set named `PREFIX:CODE:FILE`.

    Raises:
        InputError: it is not named so, or there is no such file.
    """
    _, code, given = [*name.split(":", 2), "", ""][:3]
    if not (code and given):
        raise InputError(f"{name!r}: such data sets are named {form}, where CODE is that of the language")
    check_name(code, name)
    path = outside.given_path(given)
    if not (path.is_file() or (folders and path.is_dir())):
        raise InputError(f"{name}: there is no file {'or folder ' if folders else ''}{path}")
    return path


def source_of(task: Task, name: str) -> DataSource | None:
    """The source that has a data set of that name for a task."""
    fitting = (source for source in _sources() if source.serves(task))
    return next((source for source in fitting if source.has(name)), None)


def source_names(task: Task) -> tuple[str, ...]:
    """How data sets of a task are named, whatever their source, files of one's own last."""
    names = (name for source in _sources() if source.serves(task) for name in source.names_for(task))
    return tuple(sorted(names, key=lambda name: name.endswith(":FILE")))


def _sources() -> list[DataSource]:
    import_plugins()
    return [source() for source in DataSource.kinds.values()]
