"""What a race has shown: which recipe is best, by how much and how sure, and what to do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from babelscope.advise.floor import Constant
from babelscope.advise.race import FAILED, Race
from babelscope.advise.recipes import Recipe
from babelscope.advise.scores import Behind, behind_first, gain_of, interval_of
from babelscope.advise.search import USUAL, Runner, Training
from babelscope.core.inference import FEWEST_SEEDS
from babelscope.core.intervals import Interval
from babelscope.core.samples import Samples
from babelscope.core.words import counted
from babelscope.report.judged import judged
from babelscope.steps import Evaluate
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, BILSTM, above, verdict_of


class Placed(NamedTuple):
    """A recipe at the end of the race."""

    recipe: Recipe
    rounds: int
    dev: Interval | None
    """None where it has failed at once."""
    test: Interval | None
    """None of one that was dropped, unless it is the best that may be exported."""
    behind: Behind | None
    """How much better the best one is on the test set, over sentences and rounds; None of the best itself."""
    lost: str
    training: Training = USUAL
    epochs: int | None = None
    """Of its training; None where it has failed at once."""
    rising: float | None = None
    """How much better it got at last, if so much that nothing is decided of it."""
    unlearned: bool = False
    """Whether it was hardly better than a constant answer when training ended, so that nothing is decided of it."""

    @property
    def trained(self) -> str:
        """For how many epochs, and what of it is not as usual."""
        return f"{counted(self.epochs, 'epoch')}, {self.training.name}" if self.epochs else self.training.name

    @property
    def is_open(self) -> bool:
        """Whether nothing is decided of it."""
        return self.rising is not None or self.unlearned

    @property
    def failed(self) -> bool:
        """Whether it was lost since it could not be computed, rather than dropped."""
        return self.lost.startswith(FAILED)


class Floor(NamedTuple):
    """The least that a model must beat: a constant answer."""

    name: str
    dev: Interval
    test: Interval
    behind: Interval
    """How much better the best recipe is on the test set."""
    below: Interval
    """How much better the best that may be exported is."""


class Outcome(NamedTuple):
    """The recipes from the best to the worst on the dev set, and what follows."""

    placed: list[Placed]
    verdicts: dict[str, str]
    """Encoder, as rows name it -> Easy, Intermediate or Hard."""
    direct: Placed
    """The best that may be exported."""
    floor: Floor
    key: str
    """Of the dev score of the best round of it, which names its model."""
    best_key: str
    """Of the best recipe of all."""
    store: Path
    """Where both are."""
    margin: float
    """Two recipes are as good as each other if they differ by less."""
    own: float | None = None
    """What the model of `key` alone scores on the test set."""

    @property
    def best(self) -> Placed:
        """The best of all."""
        return self.placed[0]


def outcome_of(race: Race, constant: Constant) -> Outcome:
    """What a race that was run has shown, beside a constant answer.

    The dev set has chosen; the test set says how good the choice is.
    """
    best, direct = race.leader(), race.best_direct()
    ran = [runner for runner in race.runners if runner.dev]
    order = sorted(ran, key=lambda runner: (bool(runner.lost), -race.scores.mean(runner.dev)))
    order += [runner for runner in race.runners if not runner.dev]
    placed, model = _placed(race, order), _best_round(race, direct)
    own = [tested for tested in direct.test if tested.model == model.model]
    return Outcome(
        placed, _verdicts(race), placed[order.index(direct)], _floor(race, constant, best, direct),
        model.key, _best_round(race, best).key, race.store.folder, race.request.margin,
        race.scores.mean(own) if own else None,
    )  # fmt: skip


def _placed(race: Race, order: Sequence[Runner]) -> list[Placed]:
    """In the same order, of which the first is the best."""
    tested = [k for k, runner in enumerate(order) if runner.tested]
    tests = {k: race.scores.of(order[k].test) for k in tested}
    behind = dict(zip(tested[1:], behind_first(list(tests.values()), race.request.margin), strict=True))
    return [
        Placed(
            runner.recipe,
            len(runner.dev),
            interval_of(race.scores.of(runner.dev)) if runner.dev else None,
            interval_of(tests[k]) if k in tests else None,
            behind.get(k),
            runner.lost,
            runner.training,
            runner.dev[0].model.tuning.epochs if runner.dev else None,
            runner.rising if runner.is_unfinished and not runner.is_unlearned else None,
            runner.is_unlearned,
        )
        for k, runner in enumerate(order)
    ]


def _floor(race: Race, constant: Constant, best: Runner, direct: Runner) -> Floor:
    above = [gain_of(race.scores.of(runner.test), constant.test).interval for runner in (best, direct)]
    return Floor(constant.name, interval_of(constant.dev), interval_of(constant.test), *above)


def _verdicts(race: Race) -> dict[str, str]:
    """Of each encoder in the language's own letters, on the dev sentences, since what is dropped has no test score.

    None of what was still getting better when training ended, or beside a BiLSTM that was.
    """
    by_recipe = {runner.recipe: runner.dev for runner in race.runners if runner.dev and not runner.is_unfinished}
    if Recipe(BILSTM, AS_IT_IS) not in by_recipe:
        return {}
    of_encoders = {
        encoder: [recipe for kind in (AS_IT_IS, ADAPTED) if (recipe := Recipe(encoder, kind)) in by_recipe]
        for encoder in dict.fromkeys(race.request.encoders)
    }
    signs = _signs({recipe: race.scores.of(by_recipe[recipe]) for own in of_encoders.values() for recipe in own},
                   race.scores.of(by_recipe[Recipe(BILSTM, AS_IT_IS)]))  # fmt: skip
    verdicts = {}
    for encoder, own in of_encoders.items():
        if decided := verdict_of({above(recipe.kind, BILSTM): signs[recipe] for recipe in own}):
            rounds = list(dict.fromkeys(len(by_recipe[recipe]) for recipe in own))
            said = f"on dev sentences, rounds: {' and '.join(map(str, rounds))}"
            if min(rounds) < FEWEST_SEEDS:
                said += f"; with fewer than {FEWEST_SEEDS} it is about these models alone"
            verdicts[Recipe(encoder, AS_IT_IS).row_name] = f"{decided} ({said})"
    return verdicts


def _signs(scores: Mapping[Recipe, Samples], recurrent: Samples) -> dict[Recipe, int]:
    """1 where a recipe shows to be above the BiLSTM, -1 where it shows to be below; all of these are one family."""
    verdicts = judged([gain_of(score, recurrent) for score in scores.values()])
    return {recipe: verdict.sign or 0 for recipe, verdict in zip(scores, verdicts, strict=True)}


def _best_round(race: Race, runner: Runner) -> Evaluate:
    return max(runner.dev, key=lambda scored: race.scores.mean([scored]))
