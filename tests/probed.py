"""What tests of probes share: a journal in memory, data of a batch and a bit, an encoder with dropout."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path

import torch

from babelscope.core.row import Row
from babelscope.corpora.datasets import Dataset, find
from babelscope.encoders.load import Encoder
from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model
from babelscope.tuning.observer import Observer
from babelscope.tuning.probes import Corpus, Probes


class Journal:
    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write_rows(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def add_rows(self, rows: Iterable[Row]) -> None:
        self.rows += rows

    def rows_so_far(self) -> list[Row]:
        return self.rows


def dropping(encoder: Encoder, share: float) -> Encoder:
    """A copy with dropout, once it is in training mode."""
    copied = copy.deepcopy(encoder)
    for module in copied.model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
    return copied


def eighteen(folder: Path, sentences: list[str]) -> Dataset:
    """A text whose dev split is 18 sentences: a batch of 16 and one of 2."""
    file = folder / "text.txt"
    file.write_text("\n".join([*["train"] * 144, *sentences[:18], *["test"] * 18]), encoding="utf-8")
    return find("mlm", f"text:qaa:{file}", "dev", 18)


def measured(model: Encoder, native: Encoder, data: Dataset, quirks: Iterable[str], step: int = 0) -> list[Row]:
    """The distances of a model to itself and to another, with the seed 3."""
    probes = Probes(distance=(Corpus(name="target", data=(data,)),), quirks=tuple(quirks))
    journal = Journal()
    observer = Observer(probes, task_model(model, Design("mlm")), model, {"native": native}, journal, {"seed": 3})
    observer.observe(step, model.model)
    return journal.rows
