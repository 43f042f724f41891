"""What a race has shown: which recipe is best, by how much and how sure, and what to do with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from babelscope.advise.floor import constant_answer
from babelscope.advise.race import Runner, best_direct, counted, gain, leader, mean, score
from babelscope.advise.recipes import Recipe
from babelscope.advise.request import Request
from babelscope.core.intervals import Interval, mean_ratio, paired_gain
from babelscope.engine.store import Store
from babelscope.steps import Evaluate
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM, verdict


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


def outcome_of(runners: Sequence[Runner], request: Request, store: Store) -> Outcome:
    """What the race has shown. The dev set has chosen; the test set says how good the choice is."""
    best = leader(runners, request, store)
    ran = [runner for runner in runners if runner.dev]
    by_dev = sorted(ran, key=lambda one: (bool(one.lost), -mean(one.dev, request, store)))
    by_dev += [runner for runner in runners if not runner.dev]
    placed = [_placed(one, best, request, store) for one in by_dev]
    direct = best_direct(runners, request, store)
    return Outcome(
        placed, _verdicts(runners, request, store), placed[by_dev.index(direct)],
        _floor(best, direct, request, store),
        _best_round(direct, request, store).model.key, _best_round(best, request, store).model.key,
        store.folder,
    )  # fmt: skip


def _placed(runner: Runner, best: Runner, request: Request, store: Store) -> Placed:
    test = score(runner.test, request, store) if runner.tested else None
    compared = runner is not best and runner.tested
    return Placed(
        runner.recipe, len(runner.dev), score(runner.dev, request, store) if runner.dev else None, test,
        gain(best.test, runner.test, request, store) if compared else None, runner.lost,
    )  # fmt: skip


def _floor(best: Runner, direct: Runner, request: Request, store: Store) -> Floor:
    found = constant_answer(request)

    def above(runner: Runner) -> Interval:
        counts = counted(runner.test, request, store)
        return paired_gain(counts, np.repeat(found.test, counts.shape[1], axis=1))

    return Floor(found.name, mean_ratio(found.dev), mean_ratio(found.test), above(best), above(direct))


def _verdicts(runners: Sequence[Runner], request: Request, store: Store) -> dict[str, str]:
    """Of each encoder in the language's own letters, on the dev sentences, since what is given up has no test score."""
    by_recipe = {runner.recipe: runner.dev for runner in runners}
    recurrent, found = by_recipe[Recipe(BILSTM, AS_IT_IS)], {}
    for encoder in request.encoders:
        plain, adapted = (by_recipe.get(Recipe(encoder, kind)) for kind in (AS_IT_IS, ADAPTED))
        if plain and adapted:
            decided = verdict(*(gain(side, recurrent, request, store) for side in (plain, adapted)))
            rounds = " and ".join(dict.fromkeys(str(len(side)) for side in (plain, adapted)))
            found[Recipe(encoder, AS_IT_IS).row_name] = f"{decided} (on dev sentences, rounds: {rounds})"
    return found


def _best_round(runner: Runner, request: Request, store: Store) -> Evaluate:
    return max(runner.dev, key=lambda one: mean([one], request, store))
