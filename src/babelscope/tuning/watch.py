"""What looks at a model while it is trained, and how it is shown the model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

import torch
from torch import nn

from babelscope.tuning.freezing import TrainedPart
from babelscope.tuning.losses import Losses


class Watch(Protocol):
    """Looks at a model while it is trained."""

    def resume(self, step: int) -> None:
        """The run goes on after this step (0: it begins); what was observed later is observed again."""

    def due(self, step: int, total: int) -> bool:
        """Whether to observe after this step of 1..total."""

    def observe(self, step: int, model: nn.Module) -> None:
        """The model after this step (0: before the first), in evaluation mode and without gradients."""


class Look(Protocol):
    """Shows the model to a watch after a step that it wants; where the run `ends` early, after one that it does not."""

    def __call__(self, step: int, ends: bool = False) -> None:
        """After a step."""


def watching(
    watch: Watch | None,
    start: int,
    total: int,
    model: nn.Module,
    part: TrainedPart,
    paused: Callable[[], AbstractContextManager[None]],
    losses: Losses,
) -> Look:
    """What shows the model to the watch, which has seen it at the start by then; nothing without a watch."""

    def look(step: int, ends: bool = False) -> None:
        if watch is not None and watch.due(step, total) != ends:
            losses.read()
            _observe(watch, model, part, paused, step)

    if watch is not None:
        watch.resume(start)
        if start == 0:
            _observe(watch, model, part, paused, 0)
    return look


@torch.no_grad()
def _observe(
    watch: Watch, model: nn.Module, part: TrainedPart, paused: Callable[[], AbstractContextManager[None]], step: int
) -> None:
    """Show the whole model, frozen layers computed; random state and mode are as before afterwards."""
    part.settle()
    model.eval()
    with paused(), torch.random.fork_rng():
        watch.observe(step, model)
    part.train()
