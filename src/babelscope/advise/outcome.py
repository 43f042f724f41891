"""What a race has shown: which recipe is best, by how much and how sure, and what to do with it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from babelscope.advise.floor import constant_answer
from babelscope.advise.race import Race, Runner
from babelscope.advise.recipes import Recipe
from babelscope.advise.scores import gain_of, interval_of
from babelscope.core.intervals import Interval
from babelscope.steps import Evaluate
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM, above, verdict_of


class Placed(NamedTuple):
    """A recipe at the end of the race."""

    recipe: Recipe
    rounds: int
    dev: Interval | None
    """None where it has failed at once."""
    test: Interval | None
    """None of one that was given up, unless it is the best that loads directly."""
    behind: Interval | None
    """How much better the best one is on the test set, over sentences and rounds; None of the best itself."""
    lost: str


class Floor(NamedTuple):
    """The least that a model must beat: a constant answer."""

    name: str
    dev: Interval
    test: Interval
    behind: Interval
    """How much better the best recipe is on the test set."""
    below: Interval
    """How much better the best that loads directly is."""


class Outcome(NamedTuple):
    """The recipes from the best to the worst on the dev set, and what follows."""

    placed: list[Placed]
    verdicts: dict[str, str]
    """Encoder, as rows name it -> Easy, Intermediate or Hard."""
    direct: Placed
    """The best of those whose models transformers loads and that read the language as it is written."""
    floor: Floor
    key: str
    """Of the best round's model of it."""
    best_key: str
    """Of the best recipe of all."""
    store: Path
    """Where both are."""

    @property
    def best(self) -> Placed:
        """The best of all."""
        return self.placed[0]


def outcome_of(race: Race) -> Outcome:
    """What a race that was run has shown. The dev set has chosen; the test set says how good the choice is."""
    best, direct = race.leader(), race.best_direct()
    ran = [runner for runner in race.runners if runner.dev]
    order = sorted(ran, key=lambda runner: (bool(runner.lost), -race.scores.mean(runner.dev)))
    order += [runner for runner in race.runners if not runner.dev]
    placed = [_placed(race, runner, best) for runner in order]
    return Outcome(
        placed, _verdicts(race), placed[order.index(direct)], _floor(race, best, direct),
        _best_round(race, direct).model.key, _best_round(race, best).model.key, race.store.folder,
    )  # fmt: skip


def _placed(race: Race, runner: Runner, best: Runner) -> Placed:
    scores = race.scores
    return Placed(
        runner.recipe,
        len(runner.dev),
        scores.interval(runner.dev) if runner.dev else None,
        scores.interval(runner.test) if runner.tested else None,
        scores.gain(best.test, runner.test) if runner.tested and runner is not best else None,
        runner.lost,
    )


def _floor(race: Race, best: Runner, direct: Runner) -> Floor:
    constant = constant_answer(race.request)

    def above_it(runner: Runner) -> Interval:
        counts = race.scores.counts(runner.test)
        return gain_of(counts, np.repeat(constant.test, counts.shape[1], axis=1))

    dev, test = interval_of(constant.dev), interval_of(constant.test)
    return Floor(constant.name, dev, test, above_it(best), above_it(direct))


def _verdicts(race: Race) -> dict[str, str]:
    """Of each encoder in the language's own letters, on the dev sentences, since what is given up has no test score."""
    by_recipe = {runner.recipe: runner.dev for runner in race.runners if runner.dev}
    recurrent, verdicts = by_recipe[Recipe(BILSTM, AS_IT_IS)], {}
    for encoder in dict.fromkeys(race.request.encoders):
        recipes = (Recipe(encoder, kind) for kind in (AS_IT_IS, ADAPTED))
        ran = {recipe: by_recipe[recipe] for recipe in recipes if recipe in by_recipe}
        signs = {above(recipe.kind, BILSTM): race.scores.gain(dev, recurrent).sign for recipe, dev in ran.items()}
        if decided := verdict_of(signs):
            rounds = " and ".join(dict.fromkeys(str(len(dev)) for dev in ran.values()))
            verdicts[Recipe(encoder, AS_IT_IS).row_name] = f"{decided} (on dev sentences, rounds: {rounds})"
    return verdicts


def _best_round(race: Race, runner: Runner) -> Evaluate:
    return max(runner.dev, key=lambda scored: race.scores.mean([scored]))
