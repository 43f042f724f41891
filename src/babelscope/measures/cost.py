"""What operations on an encoder save: parameters and time."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from statistics import median
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, SerializeAsAny

from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure
from babelscope.steps import EncoderStep, Operate

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder

SEQUENCES, PIECES, ROUNDS = 16, 64, 9
"""Of a forward pass that is timed: sequences, and pieces of each; and how often it is timed."""


class Costs(Measure):
    """Parameters and speed of operated encoders, compared with those of the encoders that they were made of.

    Other small encoders (`peers`) can be timed as well.
    """

    before_tuning: ClassVar[bool] = True

    measure: Literal["cost"] = "cost"
    surgeries: tuple[str, ...] = Field(min_length=1)
    """Names of the study's surgeries."""
    peers: tuple[str, ...] = ()
    """Encoders of the study that are smaller by other means, such as distilled ones, by their names in rows."""
    reference: str | None = None
    """The encoder that peers are timed against."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        for k, name in enumerate(self.surgeries):
            if name not in compiled.surgeries:
                problem = f"no surgery is named {name}; there are {', '.join(compiled.surgeries) or 'none'}"
                faults.add(f"surgeries.{k}", problem)
        if self.peers and self.reference is None:
            faults.add("reference", "peers are timed against an encoder of the study: give its name")
        if self.reference and not self.peers:
            faults.add("reference", "peers alone are timed against it, and none is named; name peers, or leave it out")
        wanted = {f"peers.{k}": name for k, name in enumerate(self.peers)}
        for key, name in (wanted | ({"reference": self.reference} if self.reference else {})).items():
            faults.resolve(key, compiled.encoder, name)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        for encoder, _ in compiled.conditions:
            if isinstance(encoder, Operate) and encoder.surgery in self.surgeries:
                yield Cost(encoder=encoder)
        if self.reference:
            reference = compiled.named[self.reference]
            yield from (PeerCost(encoder=compiled.named[name], reference=reference) for name in self.peers)


class Cost(Step):
    """Count the parameters of an operated encoder, and time it against the encoder that it was made of."""

    row_kind: ClassVar[str] = "cost"
    timed: ClassVar[bool] = True

    encoder: Operate

    @property
    def title(self) -> str:
        return f"cost of {self.encoder.labels['encoder']} ({self.encoder.surgery})"

    def execute(self, workspace: Workspace) -> None:
        """Write parameters, seconds that the operations take, and how many times as fast the result is."""
        import torch

        from babelscope.surgery import apply

        torch.set_num_threads(1)
        whole, donors = self.encoder.encoder.build(workspace), self.encoder.built_donors(workspace)
        began = time.process_time()
        operated = apply(whole, self.encoder.operations, self.encoder.seed, donors)
        seconds = time.process_time() - began
        rows = (
            _parameters(operated),
            Row("relative speed", relative_speed(operated, whole), "times"),
            Row("seconds to make", seconds, "s of CPU"),
        )
        workspace.write_rows(row.labelled(**self.encoder.labels) for row in rows)


class PeerCost(Step):
    """Count the parameters of an encoder and of the one that it is timed against."""

    row_kind: ClassVar[str] = "cost"
    timed: ClassVar[bool] = True

    encoder: SerializeAsAny[EncoderStep]
    reference: SerializeAsAny[EncoderStep]

    @property
    def title(self) -> str:
        return f"cost of {self.encoder.labels['encoder']}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        return {tuple(self.encoder.labels.items()): self.reference.key}

    def execute(self, workspace: Workspace) -> None:
        """Write the parameters of both, and how many times as fast as the reference the encoder is."""
        import torch

        torch.set_num_threads(1)
        encoder, reference = (side.build(workspace) for side in (self.encoder, self.reference))
        speed = Row("relative speed", relative_speed(encoder, reference), "times")
        rows = [row.labelled(**self.encoder.labels) for row in (_parameters(encoder), speed)]
        workspace.write_rows([*rows, _parameters(reference).labelled(**self.reference.labels)])


def _parameters(encoder: Encoder) -> Row:
    """Those of the backbone: embeddings and layers, no head."""
    return Row("parameters", sum(weight.numel() for weight in encoder.backbone.parameters()), "parameters")


def relative_speed(encoder: Encoder, reference: Encoder) -> float:
    """How many times as fast as the reference's the encoder's forward pass is, on the current device and threads.

    The two take turns, so that whatever else the machine does slows both; the medians are compared.
    """
    import torch

    pieces = min(PIECES, encoder.max_length, reference.max_length)
    ids = torch.randint(min(len(encoder.tokenizer), len(reference.tokenizer)), (SEQUENCES, pieces))
    times: tuple[list[float], list[float]] = ([], [])
    with torch.no_grad():
        for _ in range(ROUNDS + 1):
            for timed, spent in zip((encoder, reference), times, strict=True):
                began = time.perf_counter()
                timed.backbone(input_ids=ids)
                spent.append(time.perf_counter() - began)
    own, other = (median(spent[1:]) for spent in times)  # the first pass warms up
    return other / own
