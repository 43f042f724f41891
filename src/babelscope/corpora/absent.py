"""Data sets that are not here, and of which the number of examples is known: enough to plan with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from babelscope.core.errors import InputError
from babelscope.corpora.sources import Split, data_folders

NOT_HERE = "not here"
"""What stands in place of a file's digest begins so."""
KnownSize = Callable[[str, Split], int | None]
"""From a data set's name and a split to the number of its examples, where that is known without the data."""

_sizes: ContextVar[tuple[KnownSize, set[str]]] = ContextVar("sizes", default=(lambda name, split: None, set()))
"""The sizes that are known, and the names of data that were looked for and are not to be had."""


@contextmanager
def sizes_in_place_of_files(known: KnownSize) -> Iterator[None]:
    """Inside of it, a data set that is not to be had, but whose size is known, is found all the same."""
    token = _sizes.set((known, set()))
    try:
        yield
    finally:
        _sizes.reset(token)


def found(digest: Callable[[], str], name: str, split: Split, examples: int | None) -> tuple[str, int | None]:
    """The digest of a data set, and how many of its examples are read: those that are wanted, None for all.

    Raises:
        InputError: it is not to be had, and its size is not known; or BABELSCOPE_DATA names what is no folder.
    """
    known, missing = _sizes.get()
    size = known(name, split)
    if size is None:
        return digest(), examples
    try:
        if name not in missing:
            return digest(), examples
    except InputError:
        data_folders()  # a misspelt BABELSCOPE_DATA is an error: data may be where it should lead
        missing.add(name)  # it is looked for once, since the network may take its time to say no
    return f"{NOT_HERE}: {name}, {split}", min(size, examples or size)
