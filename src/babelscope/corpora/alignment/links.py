"""Links between the words of sentences and those of their translations: with weights, without, and counted by type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.core.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Integers = NDArray[np.integer]

WordPair = tuple[Sequence[str], Sequence[str]]
"""A sentence and its translation, as words."""
Links = list[tuple[int, int]]
"""Pairs of words of a sentence and of its translation, counted from 0."""


class SoftLinks(NamedTuple):
    """Links of many sentence pairs in columns, in the order of pair, source and target."""

    pair: Integers
    """[links]: which sentence pair, counted from 0."""
    source: Integers
    """[links]: which word of the first sentence."""
    target: Integers
    """[links]: which word of the second."""
    weight: NDArray[np.float64]
    """[links]: above 0; those of a word sum to 1 at most."""

    @classmethod
    def joined(cls, parts: Sequence[SoftLinks]) -> SoftLinks:
        """The links of all parts, put in order."""
        pair, source, target, weight = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.lexsort((target, source, pair))
        return cls(pair[order], source[order], target[order], weight[order])

    @classmethod
    def none(cls) -> SoftLinks:
        """No links."""
        places = np.empty(0, dtype=np.int64)
        return cls(places, places, places, np.empty(0))


def hard_links(links: SoftLinks, pairs: int) -> list[Links]:
    """For each of the sentence pairs, the links that are the heaviest of both their words; of equal ones the first."""
    kept = _heaviest(links, links.source, links.target) & _heaviest(links, links.target, links.source)
    hard: list[Links] = [[] for _ in range(pairs)]
    for pair, source, target in zip(*(column[kept].tolist() for column in links[:3]), strict=True):
        hard[pair].append((source, target))
    return hard


def _heaviest(links: SoftLinks, own: Integers, other: Integers) -> NDArray[np.bool_]:
    """[links]: whether no link of the word `own` has more weight, or as much and is before it."""
    order = np.lexsort((other, -links.weight, own, links.pair))
    words = np.stack([links.pair, own])[:, order]
    heaviest = np.zeros(len(order), dtype=bool)
    heaviest[order] = np.append(True, np.any(np.diff(words), axis=0))[: len(order)]
    return heaviest


def counts(
    links: SoftLinks, source_ids: Sequence[Sequence[int]], target_ids: Sequence[Sequence[int]]
) -> csr_array[np.float64]:
    """[target types, source types]: how much weight the links of each two types have together.

    Args:
        links: as from `soft_links`.
        source_ids: of every sentence pair the types of the first sentence's words, 0 or above; one may name them
            otherwise than they were named to be aligned.
        target_ids: likewise of the second's. Either side has as many types as its highest number says; `resize`
            changes that.

    Raises:
        InputError: a link is of a word that its sentence has not.
    """
    from scipy.sparse import coo_array

    sources, width = _linked_types(source_ids, links.pair, links.source, "first")
    targets, height = _linked_types(target_ids, links.pair, links.target, "second")
    return coo_array((links.weight, (targets, sources)), shape=(height, width)).tocsr()


def _linked_types(
    sentences: Sequence[Sequence[int]], pair: Integers, places: Integers, which: str
) -> tuple[Integers, int]:
    """[links]: the types of linked words; and how many types there are."""
    types = np.fromiter(chain.from_iterable(sentences), dtype=np.int64)
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    if pair.max(initial=-1) >= len(lengths) or np.any(places >= lengths[pair]):
        raise InputError(
            f"there are links of words that the {which} sentences lack; give the sentences that were aligned"
        )
    return types[(np.cumsum(lengths) - lengths)[pair] + places], 1 + int(types.max(initial=-1))
