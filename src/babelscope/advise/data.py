"""The data of a request: its text, and labelled sentences of the language and of what translations are from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from babelscope.advise.request import Request
from babelscope.core.errors import InputError
from babelscope.core.tasks import ENTITIES, Task
from babelscope.corpora.datasets import FileData, entity_types, find_file
from babelscope.corpora.sources import SPLITS, Split
from babelscope.tasks.kinds import kind_of


def text_data(request: Request) -> FileData:
    """The sentences of the text to learn from."""
    return find_file("mlm", request.text_name, "train")


def read_split(request: Request, split: Split) -> Sequence[Any]:
    """Labelled sentences."""
    return labelled_data(request, split).read()


def labelled_data(request: Request, split: Split) -> FileData:
    """Where they are."""
    return find_file(request.asked_task, request.labelled_name or "", split)


def source_data(request: Request, split: Split) -> FileData:
    """Where those are in what the translations are from."""
    return find_file(request.asked_task, request.source_labelled_name or "", split)


def forms_of(request: Request, split: Split) -> list[list[str]]:
    """The words of each labelled sentence."""
    kind = kind_of(request.asked_task)
    return [list(words) for words in kind.inputs(kind.gold(request.asked_task, read_split(request, split)))]


class Learned(NamedTuple):
    """What models learn to predict."""

    task: Task
    """With its classes: of a column those of the training sentences."""
    entity_types: tuple[str, ...]
    """Of named entities, those of the training sentences."""


@lru_cache(maxsize=4)
def learned(request: Request, source: bool = False) -> Learned:
    """What is learned from the labelled sentences, or from those of the `source`.

    Raises:
        InputError: they have nothing in the column, or all the same.
    """
    task, data = request.asked_task, (source_data if source else labelled_data)(request, "train")
    types = entity_types([data]) if task.reads == ENTITIES else ()
    if task.known_as:
        return Learned(task, types)
    return Learned(task.model_copy(update={"labels": kind_of(task).classes(task, data.read())}), types)


def check_labelled(request: Request) -> None:
    """Refuse labelled sentences that nothing can be learned from, or whose test sentences are not apart.

    Raises:
        InputError: there are none, they are malformed, or the test split is the same file as another.
    """
    check_splits(request, SPLITS)
    train, dev, test = (labelled_data(request, split) for split in SPLITS)
    if test.sha256 in (train.sha256, dev.sha256) and not test.splits_one_file:
        raise InputError(f"--labelled {request.labelled}: the test sentences are those that are trained or selected on")


def check_splits(request: Request, splits: Sequence[Split], source: bool = False) -> None:
    """Refuse labelled sentences, or those of the `source`, that models can neither learn from nor be scored on.

    Raises:
        InputError: names the option, and the split or the line at fault.
    """
    given = f"--source-labelled {request.source_labelled}" if source else f"--labelled {request.labelled}"
    task, data = request.asked_task, source_data if source else labelled_data
    for split in splits:
        with _naming(f"{given}, {split}"):
            examples = data(request, split).read()
            kind_of(task).check_examples(examples)
            kind_of(task).check_labelled(task, examples)
    with _naming(given):
        learned(request, source)


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Have faults say where they are."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
