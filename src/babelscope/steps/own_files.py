"""Files and folders of the user's own that steps read: whoever computes them elsewhere must see them there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.outside import given_path
from babelscope.corpora.datasets import FileData
from babelscope.corpora.letters import split_name
from babelscope.corpora.parallel import FilePairs, NamedPairs, text_and_lines
from babelscope.corpora.parallel_words import AlignmentFile, TextWords
from babelscope.corpora.transliteration import table_file
from babelscope.encoders.places import installed_folder
from babelscope.steps.encoder import Load
from babelscope.steps.plan import declared


def own_paths(steps: Iterable[Declaration]) -> tuple[str, ...]:
    """Those of steps, as they were given, each once. Data sets that are found by their names are none of them."""
    return tuple(dict.fromkeys(path for value in declared(steps) for path in _paths(value)))


def check_not_read(steps: Iterable[Declaration], output: Path) -> None:
    """Refuse to write over a file, or into a folder, of the user's own that steps read (`InputError`)."""
    for path in map(given_path, own_paths(steps)):
        if output.resolve() == path.resolve() or (output.exists() and path.exists() and output.samefile(path)):
            raise InputError(f"{output}: the study reads it, and it would be lost; choose another place")
        if output.resolve().is_relative_to(path.resolve()):
            raise InputError(f"{output}: the study reads the folder {path}; choose a place outside of it")


def _paths(value: Declaration) -> Iterator[str]:
    match value:
        case Load() if not installed_folder(value.name) and Path(value.place).is_dir():
            yield value.place
        case AlignmentFile():
            yield value.file
        case FileData() | NamedPairs():
            yield from _named(value.name)
        case FilePairs() | TextWords():
            for name in value.names:
                yield from _named(name)


def _named(name: str) -> Iterator[str]:
    """The file of `text:nl:FILE`, and the table of `UD_Uyghur-UDT>table:FILE`."""
    own, letters = split_name(text_and_lines(name)[0])
    yield from own.split(":", 2)[2:]
    if letters and (table := table_file(letters)):
        yield table
