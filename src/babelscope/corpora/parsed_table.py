"""Parsed sentences as a table, a row each, and back.

Libraries are imported where a table is made, since whoever plans a study imports this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from babelscope.core.examples import Multiword, Sentence, Word

if TYPE_CHECKING:
    import pyarrow

_NUMBERS = ("head", "first", "last")


def as_table(sentences: Sequence[Sentence]) -> pyarrow.Table:
    """A row a sentence; its words' columns are lists."""
    import pyarrow

    columns: dict[str, Any] = {
        "id": pyarrow.array([sentence.id for sentence in sentences], pyarrow.string()),
        "text": pyarrow.array([sentence.text for sentence in sentences], pyarrow.string()),
    }
    columns |= _lists(Word, [sentence.words for sentence in sentences])
    columns |= _lists(Multiword, [sentence.multiwords for sentence in sentences])
    return pyarrow.table(columns)


def of_table(table: pyarrow.Table) -> list[Sentence]:
    """The sentences of such a table."""
    ids, texts = table["id"].to_pylist(), table["text"].to_pylist()
    parts = zip(ids, _tuples(Word, table), _tuples(Multiword, table), texts, strict=True)
    return [Sentence(*each) for each in parts]


def _lists(kind: type[NamedTuple], tuples: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, Any]]:
    """A column for each field of what sentences have several of. Strings that come again are kept once."""
    import numpy as np
    import pyarrow

    starts = pyarrow.array(np.cumsum([0, *map(len, tuples)]), pyarrow.int32())
    columns = list(zip(*chain.from_iterable(tuples), strict=True)) or [()] * len(kind._fields)
    for field, column in zip(kind._fields, columns, strict=True):
        form = pyarrow.int64() if field in _NUMBERS else pyarrow.string()
        values = pyarrow.array(column, form)
        values = values if field in _NUMBERS else values.dictionary_encode()
        yield f"{kind.__name__} {field}", pyarrow.ListArray.from_arrays(starts, values)


def _tuples(kind: type[NamedTuple], table: pyarrow.Table) -> Iterator[tuple[Any, ...]]:
    """What each sentence has of them."""
    import numpy as np

    columns = [table[f"{kind.__name__} {field}"].combine_chunks() for field in kind._fields]
    make = partial(tuple.__new__, kind)  # as kind._make, in half of the time: it counts the fields of each
    flat = list(map(make, zip(*map(_values, columns), strict=True)))
    return (tuple(flat[start:end]) for start, end in pairwise(np.from_dlpack(columns[0].offsets).tolist()))


def _values(column: Any) -> Iterable[Any]:
    """Those of all sentences; equal strings are one object."""
    import numpy as np

    values = column.values
    if not hasattr(values, "dictionary"):
        return np.from_dlpack(values).tolist()
    return map(values.dictionary.to_pylist().__getitem__, np.from_dlpack(values.indices).tolist())
