"""Scores at three seeds, their report, and the records of a chart."""

from __future__ import annotations

from typing import Any

from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.report.model import Report


def score(value: float, seed: int | None, language: str, **labels: Any) -> Row:
    about = {"kind": "score", "encoder": "e", "task": "pos", "train_languages": "qaa", "split": "test"}
    measure = labels.pop("measure", "accuracy")
    return Row(measure, value, measure_of(measure).unit, seed=seed, language=language, **about | labels)


def seeds(value: float, language: str, step: float = 0.01, **labels: Any) -> list[Row]:
    return [score(value + step * (seed - 1), seed, language, **labels) for seed in range(3)]


def report(rows: list[Row], **declared: Any) -> Report:
    return Report("t", "q", rows, **declared)


def records(chart: Any) -> list[dict[str, Any]]:
    return [record for data in chart.to_dict()["datasets"].values() for record in data]
