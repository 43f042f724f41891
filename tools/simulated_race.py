"""Races of `advise`, simulated: of six recipes the best on dev sentences is held against the others on the test set.

After each round those that show to be behind it are dropped, as in `advise.race`; there is no BiLSTM among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from simulated import Setting, answers

from babelscope.advise.race import GIVEN_UP
from babelscope.advise.scores import behind_first, gain_of
from babelscope.core.inference import Table, holm
from babelscope.core.samples import Samples
from babelscope.report.judged import LEVEL

RECIPES, DEV, TEST, MARGIN = 6, 1000, 1500, 0.02


class Raced(NamedTuple):
    """What was dropped, and what is said of the rest, by three ways to correct for their number."""

    first: bool
    """Whether the one that may be better than the others was picked."""
    given_up: frozenset[int]
    """Those that were dropped on the way."""
    said: tuple[list[bool], list[bool], list[bool]]
    """Whether each of the rest is said to differ from the best on the test set: uncorrected, corrected for the
    differences to the best alone (Holm), and for all pairs (Holm), as `advise` does."""
    unlike_equal: bool
    """Whether it is called as good as another and is not of its kind."""


def raced(seeds: int, gain: float, replicates: int) -> Iterator[Raced]:
    """Races of recipes that are alike, but for the first, which is better by `gain`."""
    generator = np.random.default_rng([seeds, RECIPES, round(1000 * gain)])
    for _ in range(replicates):
        scores = answers(generator, Setting(seeds, DEV + TEST), [gain] + [0.0] * (RECIPES - 1))
        left = list(range(RECIPES))
        for rounds in range(1, seeds + 1):
            left = _left(left, scores[:, :rounds, :DEV])
        yield _judged(left, [_samples(scores[k, :, DEV:]) for k in left])


def _left(recipes: Sequence[int], dev: Table) -> list[int]:
    """Those that are not dropped after a round, the best first; `dev` is [recipes, seeds, sentences]."""
    order = sorted(recipes, key=lambda k: -dev[k].mean())
    best, *others = scores = [_samples(dev[k]) for k in order]
    if all((gain_of(best, other).p or 1.0) >= GIVEN_UP for other in others):  # corrected for their number all the more
        return order
    lost = (each.p < GIVEN_UP and each.interval.mean > 0 for each in behind_first(scores, MARGIN))
    return [order[0], *(k for k, gone in zip(order[1:], lost, strict=True) if not gone)]


def _judged(order: list[int], scores: list[Samples]) -> Raced:
    behind = behind_first(scores, MARGIN)
    alone = {str(k): gain_of(scores[0], other).p or 1.0 for k, other in enumerate(scores[1:])}
    return Raced(
        order[0] == 0,
        frozenset(range(RECIPES)) - {*order},
        (
            [p < LEVEL for p in alone.values()],
            [p < LEVEL for p in holm(alone).values()],
            [each.p < LEVEL for each in behind],
        ),
        any(each.equal and 0 in (order[0], other) for each, other in zip(behind, order[1:], strict=True)),
    )


def _samples(table: Table) -> Samples:
    return Samples(tuple(range(len(table))), table)
