"""A score seed by seed, with what each test sentence adds to it as far as that was kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev

import numpy as np
from numpy.typing import ArrayLike

from babelscope.core.inference import FEWEST_LANGUAGES, Known, Table, by_language, contributions, weight_among

Counts = Mapping[str, Sequence[Sequence[float]]]
"""Measure -> [2, sentences]: what is summed over sentences above and below the line of its ratio."""
Outcomes = Callable[[str], Counts]
"""From the key of an evaluation to what it kept of every sentence; empty where it kept nothing."""


def nothing_kept(key: str) -> Counts:
    """The outcomes of rows that no store stands behind."""
    return {}


@dataclass(frozen=True, eq=False)
class Samples:
    """The score of one condition at one place, or a difference or a mean of such scores.

    Of a measure whose means are geometric it is the logarithm: of a perplexity the loss per token.
    """

    seeds: tuple[int, ...]
    """None where it depends on no seed; then it has one row."""
    table: Table
    """[seeds, sentences], each row's mean the score; one column where nothing is known of sentences."""
    sentences: int | None = None
    """From how many the spread is known, fewer than the table has in a mean over test sets; None: as many as it has."""

    @property
    def known_sentences(self) -> int:
        """From how many the spread is known; 0 where nothing is known of sentences."""
        columns = self.table.shape[1]
        return self.sentences or (columns if columns > 1 else 0)

    @property
    def known(self) -> Known:
        """The table, and from how many sentences its spread is known."""
        return Known(self.table, sentences=self.sentences)

    @classmethod
    def of(cls, by_seed: Mapping[int | None, float], counts: Mapping[int | None, ArrayLike]) -> Samples:
        """From scores by seed (None: it depends on none), and [2, sentences] counts of the same seeds."""
        seeds = sorted(by_seed, key=lambda seed: -1 if seed is None else seed)
        values, sentences = np.array([[by_seed[seed]] for seed in seeds], dtype=np.float64), None
        kept = [np.asarray(counts[seed], dtype=np.float64) for seed in seeds if seed in counts]
        if len(kept) == len(seeds) and len({each.shape for each in kept}) == 1:
            above, below = np.stack(kept, axis=1)
            if below.sum(axis=1).all():
                values, sentences = contributions(above, below), above.shape[1]
        return cls(tuple(seed for seed in seeds if seed is not None), values, sentences)

    @property
    def by_seed(self) -> dict[int, float]:
        """Seed -> score."""
        return dict(zip(self.seeds, self.table.mean(axis=1).tolist(), strict=True)) if self.seeds else {}

    @property
    def mean(self) -> float:
        """Over seeds."""
        return float(self.table.mean())

    @property
    def sd(self) -> float | None:
        """The standard deviation over seeds; None of one."""
        return stdev(self.by_seed.values()) if len(self.seeds) > 1 else None

    def at(self, seeds: Sequence[int]) -> Samples:
        """Of these seeds alone, in their order; what depends on no seed is the same at all."""
        rows = [self.seeds.index(seed) for seed in seeds] if self.seeds else [0] * max(1, len(seeds))
        return Samples(tuple(seeds), self.table[rows], self.sentences)

    def times(self, factor: float) -> Samples:
        """Every number times a factor, such as -1 where less is better."""
        return Samples(self.seeds, self.table * factor, self.sentences)

    def __sub__(self, other: Samples) -> Samples | None:
        """Paired by seed and by sentence; None without a seed that both have.

        Where the two were not scored on as many sentences, or one of them kept none, it is known by seed alone.
        """
        shared = shared_seeds([self, other])
        if shared is None:
            return None
        first, second = (side.at(shared).table for side in (self, other))
        if first.shape != second.shape:
            return Samples(shared, first.mean(axis=1, keepdims=True) - second.mean(axis=1, keepdims=True))
        return Samples(shared, first - second, fewest_sentences([self, other]))

    def product(self, other: Samples) -> Samples:
        """Times a ratio on the same sentences that depends on no seed, such as the tokens a character of a text.

        Where the sentences are not known of both, it is certain.
        """
        first, second = self.table, other.table
        ours, theirs = (table.mean(axis=1, keepdims=True) for table in (first, second))
        if first.shape[1] != second.shape[1]:
            second = theirs
        return Samples(self.seeds, first * theirs + ours * (second - theirs), self.sentences)

    def beyond(self, other: Samples) -> Samples | None:
        """The difference to a score on other sentences, paired by seed alone."""
        mean = mean_of([self, other.times(-1)])
        return mean and mean.times(2)


def shared_seeds(samples: Iterable[Samples]) -> tuple[int, ...] | None:
    """The seeds that all have, of those that depend on one (none if none does); None if there is no such seed."""
    seeded = [set(each.seeds) for each in samples if each.seeds]
    return tuple(sorted(set.intersection(*seeded))) or None if seeded else ()


def fewest_sentences(samples: Iterable[Samples]) -> int | None:
    """From how many the spread of their mean is known: those of the shortest test set that has two or more."""
    return min((count for each in samples if (count := each.known_sentences) > 1), default=None)


def joined(samples: Sequence[Samples]) -> Table | None:
    """[seeds, sentences, places]: several places at the seeds that all have; None without such a seed."""
    shared = shared_seeds(samples)
    return None if shared is None or not samples else by_language([each.at(shared).table for each in samples])


def mean_of(samples: Sequence[Samples]) -> Samples | None:
    """The mean over places that are not drawn by chance; None without a seed that all have."""
    if len(samples) == 1:
        return samples[0]
    table = joined(samples)
    if table is None:
        return None
    return Samples(shared_seeds(samples) or (), table.mean(axis=2), fewest_sentences(samples))


def mean_over(groups: Sequence[Mapping[str, Samples]]) -> dict[str, Samples]:
    """By language, what it adds to the mean over groups, such as tasks, of the means over their languages.

    A group's mean counts once, however many languages it has. A language that it lacks adds that mean there, sentence
    by sentence, and what the others are above or below it is weighted (`weight_among`). Fewer than three languages, of
    more that others have, are these alone: each adds the mean. Empty where no seed has all.
    """
    every = list(dict.fromkeys(language for group in groups for language in group))
    added: dict[str, list[Samples]] = {language: [] for language in every}
    for group in groups:
        if (mean := mean_of(list(group.values()))) is None:
            return {}
        missed, few = len(group) < len(every), len(group) < FEWEST_LANGUAGES
        weight = 0.0 if missed and few else weight_among(len(every), len(group)) if missed else 1.0
        for language in every:
            own = group[language].at(mean.seeds) if language in group else mean
            whole, part = np.moveaxis(by_language([mean.table, own.table]), 2, 0)
            fewest = fewest_sentences([mean, own])
            added[language].append(Samples(mean.seeds, whole + (part - whole) * weight, fewest))
    means = {language: mean_of(each) for language, each in added.items()}
    return {language: mean for language, mean in means.items() if mean} if all(means.values()) else {}


def drawn_of(groups: Iterable[Mapping[str, Samples]]) -> int:
    """From how many languages the spread of `mean_over` is known: those of the group with the fewest that are not few.

    1 where all groups have few, so that their languages are these alone.
    """
    return min((count for count in map(len, groups) if count >= FEWEST_LANGUAGES), default=1)
