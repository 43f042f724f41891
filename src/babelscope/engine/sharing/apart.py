"""How far two results of the same step are apart: their rows and the digests of their files."""

from __future__ import annotations

from typing import NamedTuple

from babelscope.core.row import Row
from babelscope.engine.journal import NUMBERS
from babelscope.engine.store import Store


class Apart(NamedTuple):
    """The result of one step in two stores."""

    rows: int
    other_files: tuple[str, ...]
    """Those whose bytes differ, or that only one of them has."""
    largest: Row | None
    """The row whose value differs most; None if none differs."""
    difference: float
    """Of that row's values: the second store's less the first's."""
    are_comparable: bool = True
    """Whether both have rows of the same things, in the same order."""

    @property
    def is_equal(self) -> bool:
        """To the last bit."""
        return not self.other_files


def apart(key: str, first: Store, second: Store) -> Apart:
    """Compare the results of a step, which both stores have.

    Raises:
        DamagedResult: one is not as it was published.
    """
    files = [store.manifest(key)["files"] for store in (first, second)]
    digests = [{name: recorded["sha256"] for name, recorded in listed.items()} for listed in files]
    names = sorted({name for name, _ in digests[0].items() ^ digests[1].items()})
    pairs = list(zip(theirs := first.rows(key), ours := second.rows(key), strict=False))
    if len(theirs) != len(ours) or any(_measured(before) != _measured(after) for before, after in pairs):
        return Apart(len(theirs), tuple(names), None, 0.0, are_comparable=False)
    differing = [(after.value - before.value, before) for before, after in pairs if after.value != before.value]
    difference, row = max(differing, key=lambda pair: abs(pair[0]), default=(0.0, None))
    return Apart(len(theirs), tuple(names), row, difference)


def _measured(row: Row) -> Row:
    """What a row is of, without its numbers."""
    return row.labelled(**dict.fromkeys(NUMBERS))
