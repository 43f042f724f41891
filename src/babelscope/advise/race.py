"""Recipes against each other, round by round: what can no longer win is not tuned again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from babelscope.advise.recipes import Recipe, study_of
from babelscope.advise.request import Request
from babelscope.core.errors import InputError
from babelscope.core.intervals import Interval, mean_ratio, paired_gain
from babelscope.core.tasks import TASKS
from babelscope.corpora.letters import split_name
from babelscope.engine.events import Event
from babelscope.engine.local import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.comparison import counts
from babelscope.steps import Evaluate
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.verdicts import BILSTM

SURE = 0.99
"""Confidence of the intervals that a recipe is given up by, after few rounds."""
GO_ON = "What is done is kept; the same command goes on from it"
Watching = Callable[[Plan], AbstractContextManager[Callable[[Event], None]]]
"""Told of the plan of each round; what it gives is told of the events."""


@dataclass
class Runner:
    """A recipe in the race."""

    recipe: Recipe
    dev: list[Evaluate] = field(default_factory=list)
    """One a round."""
    test: list[Evaluate] = field(default_factory=list)
    lost: str = ""
    """Why it is no longer in the race; empty while it is."""
    tested: bool = False


def race(request: Request, tried: Sequence[Recipe], store: Store, watching: Watching) -> list[Runner]:
    """Tune every recipe once a round on the labelled sentences, and give up those that the dev set rules out.

    The BiLSTM stays in, since verdicts are held against it. What is left at the end is scored on the test set, and so
    is the best that loads directly. All results are in the store, so that the same call goes on after a kill.

    Raises:
        InputError: the BiLSTM failed, or every recipe with an encoder did.
    """
    runners = [Runner(recipe) for recipe in tried]
    for number in range(request.seeds):
        alive = [runner for runner in runners if not runner.lost]
        scored = _evaluations(request, [runner.recipe for runner in alive], number)
        for runner in alive:
            test = scored[runner.recipe]
            runner.test.append(test)
            runner.dev.append(Evaluate(model=test.model, data=test.model.dev[0]))
        _drop_failed(alive, _run([runner.dev[-1] for runner in alive], store, watching))
        _give_up([runner for runner in alive if not runner.lost], request, store, number + 1)
    direct = best_direct(runners, request, store)
    finalists = [runner for runner in runners if runner is direct or not runner.lost]
    if failed := _run([test for runner in finalists for test in runner.test], store, watching):
        raise InputError(next(iter(failed.values())), GO_ON)
    for runner in finalists:
        runner.tested = True
    return runners


def gain(
    first: Sequence[Evaluate], second: Sequence[Evaluate], request: Request, store: Store, sure: float = 0.95
) -> Interval:
    """How much better one recipe is than another in the rounds that both ran."""
    rounds = min(len(first), len(second))
    one, other = (counted(side[:rounds], request, store) for side in (first, second))
    return paired_gain(one, other, confidence=sure)


def counted(evaluations: Sequence[Evaluate], request: Request, store: Store) -> NDArray[np.float64]:
    """[2, rounds, sentences]: the numerators and denominators of the task's main measure."""
    return counts(evaluations, FinishedSteps(store))[TASKS[request.task].measures[0]]


def mean(evaluations: Sequence[Evaluate], request: Request, store: Store) -> float:
    """The main measure, the mean over rounds."""
    above, below = counted(evaluations, request, store).sum(axis=2)
    return float((above / below).mean())


def score(evaluations: Sequence[Evaluate], request: Request, store: Store) -> Interval:
    """The main measure, its interval over sentences and rounds."""
    return mean_ratio(counted(evaluations, request, store))


def leader(runners: Sequence[Runner], request: Request, store: Store) -> Runner:
    """The best on the dev set of those still in the race."""
    alive = [runner for runner in runners if not runner.lost]
    return max(alive, key=lambda runner: mean(runner.dev, request, store))


def best_direct(runners: Sequence[Runner], request: Request, store: Store) -> Runner:
    """The best on the dev set of those that read the language as it is written and load where they should."""
    direct = [runner for runner in runners if runner.recipe.loads_directly(request.task) and runner.dev]
    if not direct:
        raise InputError("no recipe in the language's own letters could be run", GO_ON)
    return max(direct, key=lambda runner: (not runner.lost, mean(runner.dev, request, store)))


def _evaluations(request: Request, tried: Sequence[Recipe], seed: int) -> dict[Recipe, Evaluate]:
    """The evaluation of each recipe on the test set; the study has others too, of encoders beside the BiLSTM."""
    plan = compile_study(study_of(request, tried, [seed]))
    scored = {
        (one.model.labels["encoder"], split_name(one.data.name)[1]): one
        for one in plan.steps.values()
        if isinstance(one, Evaluate)
    }
    return {recipe: scored[recipe.row_name, recipe.letters] for recipe in tried}


def _run(evaluations: Sequence[Evaluate], store: Store, watching: Watching) -> dict[str, str]:
    """Compute what is missing; of the evaluations without a result, by their keys, why there is none."""
    plan = Plan.of(evaluations)
    with watching(plan) as observe:
        outcome = run_plan(plan, store, observe=observe)
    causes = {key: key for key in outcome.failed} | outcome.blocked
    missing = (one.key for one in evaluations if one.key in causes)
    return {key: f"{plan.steps[causes[key]].title}: {outcome.failed[causes[key]]}" for key in missing}


def _drop_failed(alive: Sequence[Runner], failed: Mapping[str, str]) -> None:
    """Give up the recipes that this round has no result of."""
    reasons = {runner.recipe: failed[runner.dev[-1].key] for runner in alive if runner.dev[-1].key in failed}
    for runner in alive:
        if runner.recipe in reasons:
            runner.dev.pop()
            runner.test.pop()
            runner.lost = f"since it failed ({reasons[runner.recipe]})"
    kept = {runner.recipe.encoder == BILSTM for runner in alive if not runner.lost}
    for recipe, reason in reasons.items():
        if (recipe.encoder == BILSTM) not in kept:
            raise InputError(f"without {recipe.name} there is no verdict, and it failed: {reason}", GO_ON)


def _give_up(alive: Sequence[Runner], request: Request, store: Store, rounds: int) -> None:
    best = leader(alive, request, store)
    for runner in alive:
        if runner is best or runner.recipe.encoder == BILSTM:
            continue
        behind = gain(runner.dev, best.dev, request, store, SURE)
        if behind.sign < 0:
            runner.lost = f"after {rounds} of {request.seeds} rounds, {-100 * behind.mean:.1f} points behind on dev"
