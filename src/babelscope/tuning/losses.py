"""The losses of a run's steps, which are read from an accelerator now and then."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from babelscope.core.errors import DivergedError
from babelscope.tuning.checkpoint import Point, State
from babelscope.tuning.optimizer import learning_rate
from babelscope.tuning.settings import Tuning

STEPS_UNREAD = {"cpu": 1, "cuda": 20, "mps": 20}
"""By device, how many losses may wait to be read: to read one is to wait for all that the device was given to do."""


class Losses:
    """Losses of steps 1..total; those that were read are in a run's learning curve, about a hundred points of it."""

    def __init__(self, state: State, total: int, tuning: Tuning):
        self.last = math.nan
        """The last that was read."""
        self._state, self._total, self._tuning = state, total, tuning
        self._unread: list[Tensor] = []

    def add(self, step: int, loss: Tensor) -> None:
        """That of a step that was made; sometimes it is read at once, with those that waited."""
        self._state.step = step
        self._unread.append(loss.detach())
        if len(self._unread) >= STEPS_UNREAD[self._tuning.device]:
            self.read()

    def read(self) -> None:
        """Read what waits, before anything is kept of the model.

        Raises:
            DivergedError: the loss of a step became NaN or infinite.
        """
        if not self._unread:
            return
        first = self._state.step - len(self._unread) + 1
        values = torch.stack(self._unread).tolist()
        self._unread.clear()
        for step, value in enumerate(values, start=first):
            if not math.isfinite(value):
                raise _diverged(value, step, learning_rate(step, self._total, self._tuning), self._tuning)
            self._count(step, value)
        self.last = values[-1]

    def _count(self, step: int, value: float) -> None:
        """Count a step's loss into the running mean, which becomes a point of the training curve now and then."""
        state = self._state
        state.loss_sum, state.loss_steps = state.loss_sum + value, state.loss_steps + 1
        if step % max(1, self._total // 100) == 0 or step == self._total:
            state.points.append(Point(step, "train", "loss", state.loss_sum / state.loss_steps))
            state.loss_sum, state.loss_steps = 0.0, 0


def _diverged(value: float, step: int, rate: float, tuning: Tuning) -> DivergedError:
    hint = "try a learning rate of half that, a longer warm-up"
    hint += ", or precision float32" if tuning.precision == "bfloat16" else ", or clip=1.0" if not tuning.clip else ""
    return DivergedError(f"the training loss became {value} at step {step}, learning rate {rate:.3g}: {hint}")
