"""Races of `advise`, simulated: of six recipes the best on dev sentences is held against the others on the test set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from simulated import Setting, answers

from babelscope.advise.scores import behind_first, gain_of
from babelscope.core.inference import holm
from babelscope.core.samples import Samples

RECIPES, DEV, TEST, MARGIN = 6, 1000, 1500, 0.02


class Raced(NamedTuple):
    """Whether each of the five others is said to differ from the best, by three ways to correct for their number."""

    first: bool
    """Whether the one that may be better than the others was picked."""
    uncorrected: list[bool]
    of_five: list[bool]
    """By the differences to the best alone (Holm)."""
    of_pairs: list[bool]
    """By all pairs (Holm), as `advise` does."""
    unlike_equal: bool
    """Whether it is called as good as another and is not of its kind."""


def raced(seeds: int, gain: float, replicates: int) -> Iterator[Raced]:
    """Races of recipes that are alike, but for the first, which is better by `gain`."""
    generator = np.random.default_rng([seeds, RECIPES, round(1000 * gain)])
    for _ in range(replicates):
        scores = answers(generator, Setting(seeds, DEV + TEST), [gain] + [0.0] * (RECIPES - 1))
        best = int(scores[:, :, :DEV].mean(axis=(1, 2)).argmax())
        order = [best, *(k for k in range(RECIPES) if k != best)]
        yield _judged(order, [Samples(tuple(range(seeds)), scores[k, :, DEV:]) for k in order])


def _judged(order: list[int], scores: list[Samples]) -> Raced:
    behind = behind_first(scores, MARGIN)
    alone = {str(k): gain_of(scores[0], other).p or 1.0 for k, other in enumerate(scores[1:])}
    return Raced(
        order[0] == 0,
        [p < 0.05 for p in alone.values()],
        [p < 0.05 for _, p in sorted(holm(alone).items())],
        [each.p < 0.05 for each in behind],
        any(each.equal and 0 in (order[0], other) for each, other in zip(behind, order[1:], strict=True)),
    )
