"""How good an alignment is, against one by people or one that is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from babelscope.core.errors import InputError

Link = tuple[int, int]


class Quality(NamedTuple):
    """Each from 0 to 1."""

    precision: float
    """What share of the links are possible ones."""
    recall: float
    """What share of the sure links there are."""
    error_rate: float
    """The alignment error rate of Och and Ney (2003); 0 is best."""


def alignment_quality(
    found: Sequence[Iterable[Link]], sure: Sequence[Iterable[Link]], possible: Sequence[Iterable[Link]] | None = None
) -> Quality:
    """Precision, recall and error rate over all sentence pairs (Och and Ney, 2003).

    Args:
        found: of each sentence pair the links to judge.
        sure: those that there should be.
        possible: those that there may be; sure ones may, too. Without it, there are no others.

    Raises:
        InputError: not as many sentence pairs each, or no link in `found` or `sure`.
    """
    possible = sure if possible is None else possible
    if not len(found) == len(sure) == len(possible):
        raise InputError(f"links of {len(found)}, {len(sure)} and {len(possible)} sentence pairs; give equally many")
    links, wanted = (_all(sentences) for sentences in (found, sure))
    if not links or not wanted:
        raise InputError(f"{len(links)} links against {len(wanted)} sure ones; there is nothing to judge")
    right, allowed = len(links & wanted), len(links & (wanted | _all(possible)))
    return Quality(allowed / len(links), right / len(wanted), 1 - (right + allowed) / (len(links) + len(wanted)))


def _all(sentences: Sequence[Iterable[Link]]) -> set[tuple[int, int, int]]:
    return {(k, i, j) for k, links in enumerate(sentences) for i, j in links}
