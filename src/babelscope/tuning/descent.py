"""A step of training: the gradient of a batch, and down it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import AdamW

from babelscope.core.devices import is_out_of_memory
from babelscope.core.errors import InputError, NoMemoryError
from babelscope.core.seeds import derive_seed
from babelscope.tasks.task import Objective, divisible
from babelscope.tuning.dropout import OwnDropout
from babelscope.tuning.freezing import TrainedPart, find_backbone
from babelscope.tuning.graphs import Passes, beside_graphs
from babelscope.tuning.memory import Portion
from babelscope.tuning.optimizer import set_rate
from babelscope.tuning.rows import descend
from babelscope.tuning.settings import Tuning


def check_precision(model: nn.Module, tuning: Tuning) -> None:
    """Refuse bfloat16 of an encoder of which transformers makes numbers that it has no room for.

    Raises:
        InputError: it is a DeBERTa, version 1.
    """
    backbone = find_backbone(model)
    if tuning.precision == "bfloat16" and backbone is not None and backbone.config.model_type == "deberta":
        raise InputError("DeBERTa (v1) cannot be computed in bfloat16: declare precision: float32")


def loss_of(model: nn.Module, task: Objective, tuning: Tuning, batch: Any) -> Tensor:
    """The mean loss of a batch, in the precision of the run."""
    with torch.autocast(tuning.device, torch.bfloat16, enabled=tuning.precision == "bfloat16"):
        return task.loss(model, batch)


@dataclass(frozen=True)
class Descent:
    """Takes the steps of a run."""

    model: nn.Module
    task: Objective
    tuning: Tuning
    part: TrainedPart
    optimizer: AdamW
    drop: OwnDropout | None
    """How units are dropped where a batch is computed in portions."""
    passes: Passes | None
    """What has graphs of kernels; they hold memory."""
    seed: int
    total: int
    """Steps of the run."""

    def step(self, number: int, batch: Sequence[Portion]) -> Tensor:
        """Step `number` of 1..total, down the gradient of a batch's loss; gives that loss.

        Raises:
            NoMemoryError: the batch is too large for the accelerator.
        """
        self.part.reach(number)
        set_rate(self.optimizer, number, self.total, self.tuning)
        loss = self._within_memory(number, batch)
        self._update()
        return loss

    def _within_memory(self, number: int, batch: Sequence[Portion]) -> Tensor:
        """The batch's loss, beside graphs of kernels or without."""
        try:
            return beside_graphs(self.passes, partial(self._descend, number, batch))
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            raise NoMemoryError(_what_to_set(self.model, self.task, self.tuning)) from None

    def _update(self) -> None:
        """Clip the gradient, take a step and clear the gradient."""
        if rows := self.part.few_rows():
            descend(self.optimizer, rows, self.tuning.clip)
            return
        if self.tuning.clip is not None:
            nn.utils.clip_grad_norm_(self.part.flats, self.tuning.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)

    def _descend(self, number: int, batch: Sequence[Portion]) -> Tensor:
        """Add up the gradients of portions, or leave none if that fails; gives the whole batch's loss."""
        torch.manual_seed(derive_seed(self.seed, "dropout", number))
        try:
            return self._added_up(number, batch)
        except RuntimeError:
            self.optimizer.zero_grad(set_to_none=False)
            raise

    def _added_up(self, number: int, batch: Sequence[Portion]) -> Tensor:
        losses = []
        for place, portion in enumerate(batch):
            if self.drop is not None:
                self.drop.begin(number, place)
            loss = loss_of(self.model, self.task, self.tuning, portion.batch)
            loss = loss if portion.share == 1 else portion.share * loss
            loss.backward()
            losses.append(loss.detach())
        return torch.stack(losses).sum()


def _what_to_set(model: nn.Module, task: Objective, tuning: Tuning) -> str:
    """A BiLSTM has neither portions nor layers to compute twice."""
    has_encoder = find_backbone(model) is not None
    settings = [_smaller(tuning, has_encoder and not tuning.compile and divisible(task) is not None)]
    if has_encoder and tuning.encoder_dropout and not (tuning.recompute or tuning.compile):
        settings.append("recompute: true")
    settings += ["precision: bfloat16"] * (tuning.precision == "float32")
    settings += ["micro_tokens: auto without `compile`"] * tuning.compile
    return f"a batch does not fit into the memory of the {tuning.device} device: declare {', or '.join(settings)}"


def _smaller(tuning: Tuning, cut: bool) -> str:
    if cut:
        at_once = tuning.at_once or tuning.tokens_per_batch
        return f"micro_tokens{f': {max(1, at_once // 2)}' if at_once else ', such as 2048'} to compute it in portions"
    name = "examples_per_batch" if tuning.examples_per_batch else "tokens_per_batch"
    return f"{name}: {max(1, getattr(tuning, name) // 2)}"
