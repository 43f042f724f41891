"""Scores of encoders as they are and as they were pre-trained, and what is claimed of them."""

from __future__ import annotations

from babelscope.core.row import Row
from babelscope.report.model import Contrasted, Side

WHOLE = {"pos": [0.9, 0.8, 0.85], "acceptability": [0.5, 0.7, 0.6]}
CLEAN = {"pos": [0.6, 0.7, 0.5], "acceptability": [0.1, 0.1, 0.4]}
PRETRAINED = Contrasted("Pre-trained is better", Side("e"), Side("e", "clean"))


def rows() -> list[Row]:
    made = []
    for surgery, values in ((None, WHOLE), ("clean", CLEAN)):
        for task, measure, unit in (("pos", "accuracy", "share"), ("acceptability", "matthews", "correlation")):
            labels = {"surgery": surgery, "task": task, "train_languages": "qaa", "language": "qaa", "split": "test"}
            labels |= {"kind": "score", "encoder": "e"}
            made += [Row(measure, v, unit, seed=k, **labels) for k, v in enumerate(values[task])]
    return made


def scored(encoder: str, values: dict[int | None, float], **labels: str | None) -> list[Row]:
    """Rows of accuracy by seed; the labels replace those of an encoder as it is, tuned and tested on one language."""
    named = {"task": "pos", "train_languages": "qaa", "language": "qaa", "split": "test", "kind": "score"} | labels
    return [Row("accuracy", value, "share", encoder=encoder, seed=seed, **named) for seed, value in values.items()]


ALIKE = Contrasted("c", Side("e"), Side("e", "clean"))
