"""How long each recipe is trained, and how fast it learns: a small search by the dev sentences of the first round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from babelscope.advise.recipes import Recipe
from babelscope.report.cautions import RISING
from babelscope.steps import Evaluate
from babelscope.study.verdicts import BILSTM
from babelscope.tuning.settings import Tuning

RATES = (0.5, 2.0)
"""Tried beside the usual learning rate."""
LONGEST = 4
"""Times the usual epochs, at most."""


class Training(NamedTuple):
    """How a recipe is trained, beside what is usual for the size of its encoder and the number of sentences."""

    rate: float = 1.0
    """Times the usual learning rate."""
    longer: int = 1
    """Times the usual epochs."""

    def of(self, usual: Tuning) -> Tuning:
        """The settings."""
        epochs = usual.epochs and usual.epochs * self.longer
        return usual.model_copy(update={"learning_rate": usual.learning_rate * self.rate, "epochs": epochs})

    @property
    def name(self) -> str:
        """For people."""
        rates, lengths = {0.5: "half the rate", 2.0: "twice the rate"}, {2: "twice as long", 4: "four times as long"}
        return ", ".join(filter(None, (lengths.get(self.longer), rates.get(self.rate)))) or "as usual"


USUAL = Training()


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
    training: Training = USUAL
    rise: float | None = None
    """How much better the score on dev sentences still got in the last third of training; None: not known."""
    gain: float | None = None
    """How much better the longest training that was tried is than the best before it, or 0. None: none was tried, or it
    began to learn by it, which says nothing of a longer one."""
    unlearned: bool = False
    """Whether it is hardly better than a constant answer on dev sentences."""
    tried: int = 1
    """How long the longest training was that was tried, times the usual epochs."""
    stuck: bool = False
    """Whether a longer one failed."""

    @property
    def is_recurrent(self) -> bool:
        """Whether it is the BiLSTM, which verdicts are held against, so that it stays in the race."""
        return self.recipe.encoder == BILSTM

    @property
    def rising(self) -> float | None:
        """How much better it got at last: by a longer training, which says more, or in the last third of it."""
        return self.rise if self.gain is None else self.gain

    @property
    def is_unlearned(self) -> bool:
        """Whether training ended before it had learned anything, and none as long as it goes was tried."""
        return self.unlearned and self.tried < LONGEST

    @property
    def is_unfinished(self) -> bool:
        """Whether a longer training may well be better, so that nothing is decided of it."""
        return self.is_unlearned or (self.rising is not None and self.rising > RISING)


class Trials(Protocol):
    """What a search asks of a race."""

    def evaluations(self, recipe: Recipe, seed: int, training: Training) -> tuple[Evaluate, Evaluate]:
        """The scores of a recipe on dev and test sentences."""

    def compute(self, evaluations: Sequence[Evaluate]) -> Mapping[str, str]:
        """Compute what is missing; why there is none, by the keys of those without a result."""

    def mean(self, evaluations: Sequence[Evaluate]) -> float:
        """The mean score."""

    def rise(self, evaluations: Sequence[Evaluate]) -> float | None:
        """How much better their models still got on dev sentences in the last third of training."""

    def unlearned(self, evaluations: Sequence[Evaluate]) -> bool:
        """Whether these scores on dev sentences are hardly better than a constant answer."""


def train_longer(trials: Trials, runners: Sequence[Runner]) -> None:
    """Train those twice as long, and twice again, that may well get better by it.

    Where that is no better, the training is long enough.
    """
    for runner in (each for each in runners if each.rise is None):
        look(trials, runner)
    while runners := [each for each in runners if each.is_unfinished and each.tried < LONGEST and not each.stuck]:
        begun = [not each.unlearned for each in runners]
        longer = [each.training._replace(longer=2 * each.tried) for each in runners]
        for runner, gain, had_begun in zip(runners, _tried(trials, runners, longer), begun, strict=True):
            runner.stuck = gain is None
            if gain is not None:
                runner.tried, runner.gain = 2 * runner.tried, max(0.0, gain) if had_begun or gain <= 0 else None


def look(trials: Trials, runner: Runner) -> None:
    """See how its training ended."""
    runner.rise, runner.unlearned = trials.rise(runner.dev), trials.unlearned(runner.dev)


def choose_rates(trials: Trials, runners: Sequence[Runner]) -> None:
    """Train recipes at half and at twice the usual learning rate, and keep the best.

    Another rate may take longer, so that one that is kept opens anew what longer trainings have settled.
    """
    for rate in RATES:
        gains = _tried(trials, runners, [runner.training._replace(rate=rate) for runner in runners])
        for runner, gain in zip(runners, gains, strict=True):
            if gain is not None and gain > 0 and runner.training.longer < LONGEST:
                runner.gain, runner.tried, runner.stuck = None, runner.training.longer, False


def _tried(trials: Trials, runners: Sequence[Runner], trainings: Sequence[Training]) -> list[float | None]:
    """Train each otherwise in the first round, and go on with that where it is better.

    Gives for each by how much it is; None where the training failed, which says nothing.
    """
    made = [trials.evaluations(each.recipe, 0, training) for each, training in zip(runners, trainings, strict=True)]
    failed = trials.compute([dev for dev, _ in made])
    gains: list[float | None] = []
    for runner, training, (dev, test) in zip(runners, trainings, made, strict=True):
        gain = None if dev.key in failed else trials.mean([dev]) - trials.mean(runner.dev[:1])
        gains.append(gain)
        if gain is not None and gain > 0:
            runner.training, runner.dev[0], runner.test[0] = training, dev, test
            look(trials, runner)
    return gains
