"""What a schedule means for a model: which parameters are trained from which step on, and what is in training mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

from torch import nn
from transformers import PreTrainedModel

from babelscope.core.errors import InputError
from babelscope.encoders.anatomy import anatomy_of
from babelscope.tuning.adapters import adapted
from babelscope.tuning.flat import flattened
from babelscope.tuning.rows import ReadRows, read_rows
from babelscope.tuning.schedule import Schedule


class Rule(NamedTuple):
    """How a parameter is trained."""

    first_step: int = 1
    """The step from which it is."""
    factor: float = 1.0
    """Of the learning rate."""
    decays: bool = True
    """Whether weight decay applies."""


class Part(NamedTuple):
    """A module and how its parameters are trained."""

    module: nn.Module
    first_step: int | None
    """The step from which they are; None: never in this run."""
    factor: float
    by_adapters: bool = False
    """Whether adapters alone are trained, in place of the module's own parameters."""


Groups = dict[Rule, list[nn.Parameter]]


class TrainedPart:
    """What of a model is trained. `rules` are of `flats`, the flat parameters that an optimizer takes.

    `parts` are in evaluation mode where they are not trained; the rest of the model is in training mode. `rows` are
    word embeddings that the optimizer takes by what is read of them.
    """

    def __init__(
        self, model: nn.Module, groups: Groups, flats: Sequence[nn.Parameter], parts: Sequence[Part],
        rows: ReadRows | None = None,
    ):  # fmt: skip
        self.rules, self.flats, self.rows = list(groups), list(flats), rows
        self._model, self._groups, self._parts = model, list(groups.values()), parts
        self._gradients = [flat.grad for flat in flats]
        self._begun: list[bool] = []
        self.reach(1)

    def reach(self, step: int) -> None:
        """Let in what is trained from `step` on. What waits has no gradient, so no optimizer touches it."""
        begun = [rule.first_step <= step for rule in self.rules]
        if begun == self._begun:
            return
        self._begun, self._step = begun, step
        for on, parameters, flat, gradient in zip(begun, self._groups, self.flats, self._gradients, strict=True):
            flat.grad = gradient if on else None
            for parameter in parameters:
                parameter.requires_grad_(on)
        self.train()

    def few_rows(self) -> ReadRows | None:
        """The word embeddings of which few rows have been read; None from when they are many on."""
        if self.rows and self.rows.many:
            self.rows.release()
            self.rows = None
        return self.rows

    def settle(self) -> None:
        """Make all weights those of the last step. Call it before any but the training looks at them."""
        if self.rows:
            self.rows.settle()

    def train(self) -> None:
        """Training mode; evaluation mode for what is frozen."""
        self._model.train()
        for part in self._parts:
            part.module.train(part.first_step is not None and part.first_step <= self._step)


@contextmanager
def trained_part(
    model: nn.Module,
    schedule: Schedule | None,
    starts: Sequence[int],
    seed: int,
    dropout: bool = True,
    by_rows: bool = False,
) -> Iterator[TrainedPart]:
    """What a schedule trains of a model while the block lasts; without a schedule, all that requires a gradient.

    Args:
        model: a task's module with `backbone`, or a pre-trained model.
        schedule: says which part is trained.
        starts: the step, from 1, at which each stage of the schedule begins.
        seed: of the adapters' first weights.
        dropout: whether the encoder drops units where it is trained; else it stays in evaluation mode.
        by_rows: whether large word embeddings are trained by the rows that are read; on a CPU.

    Raises:
        InputError: the model has no pre-trained encoder, the schedule does not fit it, or peft is wanted and absent.
    """
    required, backbone = {each: each.requires_grad for each in model.parameters()}, find_backbone(model)
    parts = _parts(backbone_of(model), schedule, starts) if schedule else []
    lora = schedule.lora if schedule else None
    by_adapters = [part.module for part in parts if part.by_adapters]
    try:
        with adapted(by_adapters, lora, seed) if lora else nullcontext():
            groups = _groups(model, parts)
            for parameter in model.parameters():
                parameter.requires_grad_(False)
            if not dropout:
                parts = [Part(backbone_of(model), None, 1.0)]
            elif schedule and schedule.frozen_dropout:
                parts = []
            with (
                flattened(list(groups.values())) as flats,
                read_rows(model, backbone.get_input_embeddings(), flats)
                if backbone and by_rows
                else nullcontext() as rows,
            ):
                yield TrainedPart(model, groups, flats, parts, rows)
    finally:
        for parameter, flag in required.items():
            parameter.requires_grad_(flag)


def backbone_of(model: nn.Module) -> PreTrainedModel:
    """The encoder proper inside a task's module or a pre-trained model.

    Raises:
        InputError: there is none, as in a BiLSTM.
    """
    if (backbone := find_backbone(model)) is None:
        name = type(model).__name__
        without = "a schedule, micro_tokens, recompute and encoder_dropout: false"
        raise InputError(f"{name} has no pre-trained encoder: train it without {without}")
    return backbone


def find_backbone(model: nn.Module) -> PreTrainedModel | None:
    """The same; None where there is none."""
    backbone = model.base_model if isinstance(model, PreTrainedModel) else getattr(model, "backbone", None)
    return backbone if isinstance(backbone, PreTrainedModel) else None


def layers_of(backbone: PreTrainedModel) -> list[nn.Module]:
    """The layers of an encoder, the lowest first."""
    return list(backbone.get_submodule(anatomy_of(backbone.config).layers).children())


def _parts(backbone: PreTrainedModel, schedule: Schedule, starts: Sequence[int]) -> list[Part]:
    """The backbone, then what inside of it has rules of its own: later parts overrule those that hold them.

    What is left to the backbone itself is the embeddings, positions among them. A norm after the last layer goes with
    that layer; a pooler is a part of the head.
    """
    layers = layers_of(backbone)
    schedule.check(len(layers))
    stages = schedule.entry_stages(len(layers))
    steps = [starts[stage] if stage is not None and stage < len(starts) else None for stage in stages]
    factors, lora = schedule.rate_factors(len(layers)), schedule.lora is not None
    parts = [Part(backbone, None if lora else steps[0], factors[0])]
    of_layers = zip(layers, steps[1:], factors[1:], strict=True)
    parts += [Part(layer, step, factor, lora and step is not None) for layer, step, factor in of_layers]
    if norm := anatomy_of(backbone.config).final_norm:
        parts.append(Part(backbone.get_submodule(norm), None if lora else steps[-1], factors[-1]))
    if pooler := getattr(backbone, "pooler", None):
        parts.append(Part(pooler, 1, 1.0))
    return parts


def _groups(model: nn.Module, parts: Sequence[Part]) -> Groups:
    """The parameters that are trained, those with the same rule together; outside the parts all are, from the start."""
    places = {parameter: part for part in parts for parameter in part.module.parameters()}
    # These two come first and are there even if empty: without a schedule they are all.
    groups: Groups = {Rule(decays=True): [], Rule(decays=False): []}
    for parameter in model.parameters():
        part = places.get(parameter, _HEAD)
        if parameter.requires_grad and part.first_step is not None:
            rule = Rule(part.first_step, part.factor, decays=parameter.ndim > 1)
            groups.setdefault(rule, []).append(parameter)
    return groups


_HEAD = Part(nn.Identity(), 1, 1.0)
"""How everything outside the backbone is trained."""
