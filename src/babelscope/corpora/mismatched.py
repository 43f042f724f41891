"""Where sentences and their translations have lost step, by a line that is missing on one side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from math import log
from statistics import correlation

from babelscope.corpora.paired import Pair

PART = 100
"""Pairs, about, that are looked at together."""
FEWEST = 30
"""So few pairs are not looked at: their lengths can be unrelated by chance."""
UNRELATED = 0.4
"""Below it is the correlation of what is no translation. Of 6,200 parts of NTREX, FLORES-200, Tatoeba and TICO-19 that
are in step, none is below 0.53; shifted by a line, 98 in 100 are below 0.4."""
MANY = 0.1
"""The share of pairs from which on what is odd about them is said."""
SHOWN = 60
"""Characters of a sentence, to find it by."""


def mismatches(pairs: Sequence[Pair]) -> list[str]:
    """A line for what is odd about pairs of sentences, all with text on both sides, and for each stretch out of step.

    Where sides have unrelated lengths they hardly translate each other: by the correlation of the logarithms of their
    numbers of characters (after Gale and Church, 1993).
    """
    stretches = [_in_words(pairs, first, end) for first, end in _stretches(pairs)]
    return [*_repeated(pairs), *stretches]


def _repeated(pairs: Sequence[Pair]) -> Iterator[str]:
    """Sentences that are not translated, and a text that is the translation of many."""
    if (same := sum(sentence == translation for sentence, translation in pairs)) > MANY * len(pairs):
        yield f"{same:,} of {len(pairs):,} sentences are the same on both sides, and say nothing of a language"
    ((text, times), *_) = Counter(translation for _, translation in pairs).most_common(1) or [("", 0)]
    if times > max(1, MANY * len(pairs)):
        yield f"{times:,} of {len(pairs):,} sentences have one translation, {_shown(text)}"


def _in_words(pairs: Sequence[Pair], first: int, end: int) -> str:
    return (
        f"pairs {first + 1:,} to {end:,} of {len(pairs):,} hardly translate each other, by their lengths. See whether "
        f"a line is missing on one side, there or shortly before; the first is {_shown(pairs[first][0])}"
    )


def _shown(sentence: str) -> str:
    return repr(sentence if len(sentence) <= SHOWN else sentence[: SHOWN - 1] + "…")


def _stretches(pairs: Sequence[Pair]) -> Iterator[tuple[int, int]]:
    """First and end of each, counted from 0; neighbouring parts are one stretch."""
    parts = pairwise(_edges(len(pairs)))
    for unrelated, group in groupby(parts, lambda part: _correlation(pairs[slice(*part)]) < UNRELATED):
        if unrelated:
            edges = [edge for part in group for edge in part]
            yield edges[0], edges[-1]


def _edges(count: int) -> list[int]:
    """Of parts of nearly the same size."""
    parts = max(1, round(count / PART)) if count >= FEWEST else 0
    return [count * part // parts for part in range(parts + 1)] if parts else []


def _correlation(pairs: Sequence[Pair]) -> float:
    """1 where a side has one length throughout, by which nothing can be seen."""
    first, second = ([log(len(sentence)) for sentence in side] for side in zip(*pairs, strict=True))
    return correlation(first, second) if len(set(first)) > 1 < len(set(second)) else 1.0
