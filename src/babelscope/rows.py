"""Rows: one number each, with everything that says what the number is. Reports read rows and nothing else."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One measured number. A column that does not apply is None (empty in a file).

    `study` and `key` are filled in when rows are read for a study: a step knows neither, since several studies
    may share it.
    """

    measure: str
    value: float
    unit: str = ""
    study: str | None = None
    key: str | None = None
    encoder: str | None = None
    surgery: str | None = None
    schedule: str | None = None
    task: str | None = None
    train_languages: str | None = None
    language: str | None = None
    dataset: str | None = None
    split: str | None = None
    seed: int | None = None
    step: int | None = None
    layer: int | None = None
    alpha1: float | None = None
    alpha2: float | None = None

    def labelled(self, **labels: Any) -> Row:
        """The same number with some columns filled in."""
        return replace(self, **labels)


COLUMNS = (
    "study", "key", "encoder", "surgery", "schedule", "task", "train_languages", "language", "dataset", "split",
    "seed", "step", "layer", "alpha1", "alpha2", "measure", "value", "unit",
)  # fmt: skip
"""The order of columns in every file."""

assert set(COLUMNS) == {field.name for field in fields(Row)}


def as_record(row: Row) -> dict[str, Any]:
    """The row as a JSON object in column order, empty columns left out."""
    values = asdict(row)
    return {name: values[name] for name in COLUMNS if values[name] is not None}
