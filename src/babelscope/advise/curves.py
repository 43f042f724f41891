"""Scores over the number of sentences that recipes learn from, and what more of them would bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelscope.advise.amounts import LEAST_POINTS, amounts, kinds, learns_from, numbers, total
from babelscope.advise.race import Race
from babelscope.advise.recipes import Recipe
from babelscope.advise.scores import Scores, effect_of
from babelscope.advise.search import Runner
from babelscope.core.inference import Effect
from babelscope.core.intervals import Interval
from babelscope.core.samples import Samples
from babelscope.report.judged import LEVEL, p_of
from babelscope.steps import Evaluate


class Points(NamedTuple):
    """What a curve is made from."""

    over: str
    """Which kind of sentences the recipe learns from fewer and fewer of: `TRANSLATED` or `LABELLED`."""
    recipe: Recipe
    scored: Mapping[int, Sequence[Evaluate]]
    """Number of sentences, the fewest first -> the test scores of the rounds."""


class Curve(NamedTuple):
    """The test scores of a recipe that learns from fewer and fewer sentences of one kind."""

    over: str
    """Which kind: `TRANSLATED` or `LABELLED`."""
    recipe: Recipe
    numbers: list[int]
    """Of sentences, the fewest first."""
    scores: list[Samples]
    """In the same order, in the same rounds."""

    @property
    def straight(self) -> int:
        """How many points, the last ones, are taken for a straight line over the logarithm of the number.

        All of them, or where a bend shows two. 0: there are too few to say.
        """
        if len(self.numbers) < LEAST_POINTS:
            return 0
        bend = p_of(effect_of(_combined(self.scores, leading(np.log2(self.numbers), 2))))
        return 2 if bend is not None and bend < LEVEL else len(self.numbers)

    @property
    def doubling(self) -> Effect | None:
        """What twice as many sentences bring: the slope of that line (least squares); None with too few points."""
        if not (last := self.straight):
            return None
        return effect_of(_combined(self.scores[-last:], leading(np.log2(self.numbers[-last:]), 1)))

    @property
    def last(self) -> Interval:
        """What the last step brought by itself, from the last number but one to all."""
        return effect_of(_combined(self.scores[-2:], np.array([-1.0, 1.0]))).interval


def points_of(race: Race) -> list[Points]:
    """Of a race that was run: over labelled sentences, and over translated ones if there are. Computes what is missing.

    Each is of the recipe that is the best on the dev set of those that learn from such sentences, in all rounds, also
    where it was dropped. A point that cannot be computed is left out.
    """
    learning = {over: _best(race, over) for over in kinds(race.request)}
    wanted = {over: (best, _evaluations(race, over, best)) for over, best in learning.items() if best}
    failed = race.compute([each for _, points in wanted.values() for point in points.values() for each in point])
    return [
        Points(over, best.recipe, {
            number: point for number, point in points.items() if not any(each.key in failed for each in point)
        })
        for over, (best, points) in wanted.items()
    ]  # fmt: skip


def curve_of(points: Points, scores: Scores) -> Curve:
    """The curve, by the scores that a store has."""
    return Curve(points.over, points.recipe, list(points.scored), list(map(scores.of, points.scored.values())))


def leading(places: NDArray[np.float64], degree: int) -> NDArray[np.float64]:
    """[places]: what the values at places count in the first coefficient of the polynomial that fits them best."""
    weights: NDArray[np.float64] = np.linalg.pinv(np.vander(places, degree + 1))[0]
    return weights


def as_many(gain: float, doubling: float, there: int) -> int:
    """How many more sentences bring a gain, by what twice as many as there are bring."""
    return round(there * (2 ** (gain / doubling) - 1))


def _best(race: Race, over: str) -> Runner | None:
    learning = [runner for runner in race.runners if runner.dev and learns_from(over, runner.recipe)]
    return max(learning, key=lambda runner: (not runner.lost, race.scores.mean(runner.dev)), default=None)


def _evaluations(race: Race, over: str, runner: Runner) -> dict[int, list[Evaluate]]:
    """Number of sentences -> the test scores of the rounds."""
    there = total(over, race.request)
    return {
        number: [
            race.evaluation(runner.recipe, seed, amounts(over, number, there), runner.training)
            for seed in range(race.request.seeds)
        ]
        for number in numbers(over, there)
    }  # fmt: skip


def _combined(scores: Sequence[Samples], weights: NDArray[np.float64]) -> Samples:
    tables = [score.table * weight for score, weight in zip(scores, weights, strict=True)]
    return Samples(scores[0].seeds, np.sum(tables, axis=0))
