"""Models that measures read: encoders as they are, and those of tunings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import PositiveInt, SerializeAsAny

from babelscope.core.devices import Device
from babelscope.core.step import Needs, Step, Workspace
from babelscope.measures.compiled import Compiled
from babelscope.steps import EncoderStep, Tune
from babelscope.steps.memory import READING, memory_of

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Placed(NamedTuple):
    """A model, and what it is computed on."""

    model: EncoderStep | Tune
    device: Device
    threads: int


def models_of(compiled: Compiled, tuned: Sequence[str], device: Device) -> Iterator[Placed]:
    """Every encoder under every surgery, untuned, on a device; and each of its tunings on these tasks on its own."""
    for encoder, seed in compiled.conditions:
        yield Placed(encoder, device, 1)
        for name in tuned:
            for (model,) in compiled.tunings_of(encoder, seed, [name]):
                yield Placed(model, model.tuning.device, model.tuning.threads)


class OfModel(Step):
    """A step that measures a model."""

    model: SerializeAsAny[EncoderStep | Tune]
    """An encoder as it is, or a tuning, whose best model's encoder is measured."""
    device: Device
    threads: PositiveInt

    @property
    def needs(self) -> Needs:
        if isinstance(self.model, Tune):
            return self.model.needs_to_read
        memory = 0 if self.device == "cpu" else memory_of(self.model, READING)
        return Needs.on(self.device, self.threads, memory)

    @property
    def labels(self) -> dict[str, Any]:
        """The columns that the model determines in all rows."""
        return self.model.labels

    @property
    def model_title(self) -> str:
        """The model in words, for titles."""
        if isinstance(self.model, Tune):
            return self.model.title.removeprefix("tune ")
        told = [self.labels.get("surgery"), f"seed {self.labels['seed']}" if "seed" in self.labels else None]
        done = ", ".join(filter(None, told))
        return f"{self.labels['encoder']} ({done})" if done else self.labels["encoder"]

    def encoder(self, workspace: Workspace) -> Encoder:
        """The model's encoder, on its device."""
        import torch
        from torch.nn import Module

        torch.set_num_threads(self.threads)
        model = self.model
        encoder = model.tuned_encoder(workspace) if isinstance(model, Tune) else model.build(workspace)
        Module.to(encoder.model, self.device)
        return encoder
