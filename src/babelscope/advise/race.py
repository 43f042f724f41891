"""Recipes against each other, round by round: what can no longer win is not tuned again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property

from babelscope.advise.amounts import EVERYTHING, Amounts
from babelscope.advise.floor import Constant, clear_gain, constant_answer
from babelscope.advise.recipes import Recipe
from babelscope.advise.request import Request
from babelscope.advise.scores import Scores, behind_first
from babelscope.advise.search import USUAL, Runner, Training, choose_rates, look, train_longer
from babelscope.advise.steps import evaluation, load_step, on_dev
from babelscope.core.errors import InputError
from babelscope.engine.events import Event
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.report.cautions import RISING
from babelscope.steps import Evaluate, Load
from babelscope.steps.plan import Plan

GIVEN_UP = 0.01
"""Of dropping, in a round, any model that is as good as the leader's. Recipes are dropped more often: one round, or
two, say nothing of chance in tuning."""
GO_ON = "What is done is kept; the same command goes on from it"
FAILED = "since it failed"
"""How what is said of a recipe begins that was lost so."""
Watching = Callable[[Plan], AbstractContextManager[Callable[[Event], None]]]
"""Told of the plan of each round; what it gives is told of the events."""


class Race:
    """The recipes for a request, tuned once a round on the labelled sentences; all results are in the store."""

    def __init__(
        self, request: Request, tried: Sequence[Recipe], store: Store, watching: Watching,
        say: Callable[[str], None] = lambda text: None,
    ):  # fmt: skip
        self.request, self.store, self._say = request, store, say
        self.scores = Scores(store, request.measure)
        self.runners = [Runner(recipe) for recipe in tried]
        self._watching, self._computed = watching, set[str]()

    def run(self) -> None:
        """Run all rounds; after each, drop the recipes that the dev set rules out.

        The first round also decides how each is trained: longer, where it was still getting better, and at another
        rate, where that is better. What is left at the end is scored on the test set, and so is the best that loads
        directly. The same call goes on after a kill.

        Raises:
            InputError: the BiLSTM failed, or every recipe with an encoder did.
        """
        for number in range(self.request.seeds):
            for runner in self.alive:
                dev, test = self.evaluations(runner.recipe, number, runner.training)
                runner.dev.append(dev)
                runner.test.append(test)
            self._drop_failed(self.compute([runner.dev[-1] for runner in self.alive]))
            searches = self.request.search and not number
            if searches:
                train_longer(self, self.alive)
            self._give_up(number + 1)
            if searches:
                choose_rates(self, self.alive)
                train_longer(self, self.alive)
            self._tell(number + 1)
        if not self.request.search:  # else the first round has looked, and decided
            for runner in (each for each in self.runners if each.dev):
                look(self, runner)
        direct = self.best_direct()
        self._say("scoring what is left, and the model to export, on the test sentences")
        self._test([runner for runner in self.runners if runner is direct or not runner.lost])

    @property
    def alive(self) -> list[Runner]:
        """Those still in the race."""
        return [runner for runner in self.runners if not runner.lost]

    def leader(self) -> Runner:
        """The best on the dev set of those still in the race."""
        return max(self.alive, key=lambda runner: self.scores.mean(runner.dev))

    def best_direct(self) -> Runner:
        """The best on the dev set of those that can be exported.

        Raises:
            InputError: there is none.
        """
        tags = self.request.has_tagger
        direct = [runner for runner in self.runners if runner.recipe.may_be_exported(tags=tags) and runner.dev]
        if not direct:
            raise InputError("no recipe in the language's own letters could be run", GO_ON)
        return max(direct, key=lambda runner: (not runner.lost, self.scores.mean(runner.dev)))

    def evaluation(
        self, recipe: Recipe, seed: int, amounts: Amounts = EVERYTHING, training: Training = USUAL
    ) -> Evaluate:
        """The score of a recipe on the test sentences, tuned with a seed."""
        return evaluation(self.request, recipe, self._encoders.get(recipe.encoder), seed, amounts, training)

    def evaluations(self, recipe: Recipe, seed: int, training: Training) -> tuple[Evaluate, Evaluate]:
        """The scores of a recipe on the dev and on the test sentences, tuned with a seed."""
        scored = self.evaluation(recipe, seed, training=training)
        return on_dev(self.request, recipe, scored), scored

    def mean(self, evaluations: Sequence[Evaluate]) -> float:
        """The mean score over rounds."""
        return self.scores.mean(evaluations)

    def rise(self, evaluations: Sequence[Evaluate]) -> float | None:
        """How much better their models still got in the last third, on dev sentences, of the source if zero-shot."""
        return self.scores.rise([evaluation.model for evaluation in evaluations])

    def unlearned(self, evaluations: Sequence[Evaluate]) -> bool:
        """Whether these scores on dev sentences are hardly better than a constant answer."""
        constant = self.constant.dev.mean
        return self.mean(evaluations) < constant + clear_gain(constant, RISING)

    @cached_property
    def constant(self) -> Constant:
        """The constant answer."""
        return constant_answer(self.request)

    @property
    def seconds(self) -> float:
        """Of computing, of all steps that it has asked for so far, whenever they were run."""
        return float(sum(self.store.manifest(key)["seconds"] for key in self._computed if self.store.has(key)))

    def _tell(self, rounds: int) -> None:
        """Say how the race stands after so many rounds."""
        best = self.leader()
        ahead = f"ahead on the dev sentences is {best.recipe.name}, {100 * self.scores.mean(best.dev):.1f}%"
        alive = f"{len(self.alive)} of {len(self.runners)} recipes are in the race"
        self._say(f"round {rounds} of {self.request.seeds}: {ahead} (trained {best.training.name}); {alive}")

    @cached_property
    def _encoders(self) -> dict[str, Load]:
        """By name. They are looked for only where something is to be computed."""
        return {name: load_step(name) for name in dict.fromkeys(self.request.encoders)}

    def _test(self, finalists: Sequence[Runner]) -> None:
        if failed := self.compute([test for runner in finalists for test in runner.test]):
            raise InputError(next(iter(failed.values())), GO_ON)
        for runner in finalists:
            runner.tested = True

    def compute(self, evaluations: Sequence[Evaluate]) -> dict[str, str]:
        """Compute what is missing; of the evaluations without a result, by their keys, why there is none."""
        plan = Plan.of(evaluations)
        self._computed |= plan.steps.keys()
        with self._watching(plan) as observe:
            outcome = run_plan(plan, self.store, observe=observe)
        causes = {key: key for key in outcome.failed} | outcome.blocked
        missing = (scored.key for scored in evaluations if scored.key in causes)
        return {key: f"{plan.steps[causes[key]].title}: {outcome.failed[causes[key]]}" for key in missing}

    def _drop_failed(self, failed: Mapping[str, str]) -> None:
        """Give up the recipes that this round has no result of, by the keys of their evaluations on dev sentences."""
        lost = [runner for runner in self.alive if runner.dev[-1].key in failed]
        reasons = {runner.recipe: failed[runner.dev[-1].key] for runner in lost}
        for runner in lost:
            runner.dev.pop()
            runner.test.pop()
            runner.lost = f"{FAILED} ({reasons[runner.recipe]})"
        kept = {runner.is_recurrent for runner in self.alive}
        for runner in lost:
            if runner.is_recurrent not in kept:
                recipe = runner.recipe
                raise InputError(f"without {recipe.name} there is no verdict, and it failed: {reasons[recipe]}", GO_ON)

    def _give_up(self, rounds: int) -> None:
        """Those that show to be behind the leader, whichever of them all is that."""
        best = self.leader()
        others = [runner for runner in self.alive if runner is not best]
        dev = [self.scores.of(runner.dev) for runner in (best, *others)]
        for runner, behind in zip(others, behind_first(dev, self.request.margin), strict=True):
            if behind.p < GIVEN_UP and behind.interval.mean > 0 and not runner.is_recurrent:
                points = f"{100 * behind.interval.mean:.1f} points behind on dev"
                when = f"{rounds} of {self.request.seeds} rounds" if self.request.seeds > 1 else "the one round"
                runner.lost = f"after {when}, {points}"
                self._say(f"dropped: {runner.recipe.name}, {runner.lost}")
