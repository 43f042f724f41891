"""The bootstrap that reports do not use: seeds and sentences both drawn anew, with replacement.

How often each seed and each sentence is drawn are weights, so that all draws of a table are a few products of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.core.inference import Table, crossed_variance, raised

TOGETHER = 50
"""Tables of which the same seeds and sentences are drawn anew: drawing takes longer than computing."""

Numbers = NDArray[np.float64]


class Ends(NamedTuple):
    """Of the 95% intervals of one table."""

    percentile: tuple[float, float]
    """The quantiles of the means of the tables drawn anew."""
    studentised: tuple[float, float]
    """By the quantiles of their t, each with the standard error of its own table."""


def bootstrapped(tables: Sequence[Table], draws: int, generator: np.random.Generator) -> Iterator[Ends]:
    """The intervals of tables [seeds, sentences] of one shape."""
    for k, table in enumerate(tables):
        if not k % TOGETHER:
            seeds, sentences = (
                generator.multinomial(count, np.full(count, 1 / count), draws).astype(np.float64)
                for count in table.shape
            )
        means, variances = drawn_anew(table, seeds, sentences)
        mean, error = float(table.mean()), math.sqrt(crossed_variance(table).of_mean)
        low, high = np.quantile(means, (0.025, 0.975))
        least, most = np.quantile((means - mean) / np.sqrt(variances), (0.025, 0.975))
        yield Ends((low, high), (mean - most * error, mean - least * error))


def drawn_anew(table: Table, seeds: Numbers, sentences: Numbers) -> tuple[Numbers, Numbers]:
    """[draws], [draws]: the mean of each table drawn anew, and the variance of that mean as `crossed_variance` has it.

    Args:
        table: [seeds, sentences].
        seeds: [draws, seeds], how often each is drawn; the numbers of a draw add up to the number of seeds.
        sentences: [draws, sentences], likewise.
    """
    (rows, columns), centre = table.shape, table.mean()
    table = table - centre
    by_seed, by_sentence = table @ sentences.T / columns, table.T @ seeds.T / rows
    means = (seeds.T * by_seed).sum(axis=0) / rows
    of_seeds = (seeds.T * by_seed**2).sum(axis=0) - rows * means**2
    of_sentences = np.einsum("bj,jb->b", sentences, by_sentence**2) - columns * means**2
    of_all = (seeds.T * (table**2 @ sentences.T)).sum(axis=0) - rows * columns * means**2
    rest = (of_all - columns * of_seeds - rows * of_sentences) / ((rows - 1) * (columns - 1)) / (rows * columns)
    row, column = of_seeds / (rows - 1) / rows, of_sentences / (columns - 1) / columns
    return centre + means, raised(row + column - rest, np.maximum(row, column), min(rows, columns))
