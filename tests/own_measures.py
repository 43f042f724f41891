"""Measures that a stranger writes: of layers, and of the names of encoders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import torch

from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.measures import Compiled, LayerMeasure, Measure


class Anisotropy(LayerMeasure):
    """Mean cosine of two different sentences' states (Ethayarajh, 2019)."""

    measure: Literal["anisotropy"] = "anisotropy"

    def compute(self, states):
        units = torch.nn.functional.normalize(states.double(), dim=-1)
        cosines = units @ units.transpose(-1, -2)
        sentences = states.shape[1]
        return (cosines.sum(dim=(-1, -2)) - sentences) / (sentences * (sentences - 1))


class Letters(Measure):
    """How many letters the name of each encoder has."""

    unit: ClassVar[str] = "letters"

    measure: Literal["letters"] = "letters"
    most: int = 99

    def check(self, compiled: Compiled, faults: Faults) -> None:
        if self.most < 1:
            faults.add("most", "names have a letter at least")

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        yield from (CountLetters(name=encoder.labels["encoder"], most=self.most) for encoder in compiled.encoders)


class CountLetters(Step):
    """The step of the measure above."""

    row_kind: ClassVar[str] = "letters"

    name: str
    most: int

    def execute(self, workspace: Workspace) -> None:
        workspace.write_rows([Row("letters", min(self.most, len(self.name)), "letters", encoder=self.name)])
