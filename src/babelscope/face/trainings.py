"""What a plan trains, and for how many steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from babelscope.core.step import Step
from babelscope.steps import Recurrent, Training, Tune
from babelscope.steps.duration import Duration, duration_of
from babelscope.tuning.settings import Tuning

HEADER = ("training", "examples", "batch", "length", "steps", "times", "in all")
ABOUT = "~"
"""Before a number of steps that is estimated from the number of words, since batches are of so many tokens."""


class _Training(NamedTuple):
    """What equal trainings of different encoders, schedules and seeds have in common."""

    name: str
    tuning: Tuning
    duration: Duration


def trainings(steps: Iterable[Step]) -> list[tuple[str, ...]]:
    """Lines under `HEADER`, one for equal trainings; the last is their sum. None if nothing is trained."""
    counted = Counter(_training(step) for step in steps if isinstance(step, Training))
    if not counted:
        return []
    lines = [_cells(training, times) for training, times in counted.items()]
    steps_in_all = sum(training.duration.steps * times for training, times in counted.items())
    exact = all(training.duration.exact for training in counted)
    return [*lines, ("all", "", "", "", "", str(counted.total()), _number(steps_in_all, exact))]


def _training(step: Training) -> _Training:
    if not isinstance(step, Tune):
        return _Training(step.title, step.tuning, duration_of(step))
    model = " (BiLSTM)" if isinstance(step.encoder, Recurrent) else ""
    return _Training(f"{step.task} on {step.trained_on}{model}", step.tuning, duration_of(step))


def _cells(training: _Training, times: int) -> tuple[str, ...]:
    name, tuning, (examples, steps, exact) = training
    batch = f"{tuning.tokens_per_batch} tokens" if tuning.examples_per_batch is None else str(tuning.examples_per_batch)
    length = f"{tuning.epochs} epochs" if tuning.steps is None else f"{tuning.steps} steps"
    numbers = (_number(steps, exact), str(times), _number(steps * times, exact))
    return name, _number(examples), batch, length, *numbers


def _number(count: int, exact: bool = True) -> str:
    return f"{'' if exact else ABOUT}{count:,}"
