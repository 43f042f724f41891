"""How many examples of each split tasks are trained, selected and scored on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, PositiveInt, Tag

from babelscope.core.declaration import Declaration
from babelscope.corpora.sources import Split

NO_LIMIT = 10**9
"""Examples that no data set has."""


def _counted(given: Any) -> Any:
    return NO_LIMIT if given == "all" else given


Size = Annotated[PositiveInt, BeforeValidator(_counted, json_schema_input_type=PositiveInt | Literal["all"])]
"""A number of examples at most, or `all`."""


def one_or_several(given: Any) -> str:
    """The tag of what is given, where a value may be one or a list."""
    return "<several>" if isinstance(given, list | tuple) else "<one>"


class Sizes(Declaration):
    """How many examples (sentences, pairs) of each split are read at most; `all` reads every one.

    The artificial world has no end: give a number there.
    """

    train: Annotated[
        Annotated[Size, Tag("<one>")] | Annotated[tuple[Size, ...], Tag("<several>")],
        Discriminator(one_or_several),
    ] = 1500
    """Of each training set; several numbers: of the first, of the second and so on."""
    dev: Size = 300
    """Of each dev split."""
    test: Size = 500
    """Of each data set that is scored."""

    def of(self, split: Split, data_sets: int) -> tuple[int, ...]:
        """One for each data set."""
        size = getattr(self, split)
        return size if isinstance(size, tuple) else (size,) * data_sets


EVERYTHING = Sizes(train=NO_LIMIT, dev=NO_LIMIT, test=NO_LIMIT)
