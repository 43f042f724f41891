"""Rows: one number each, with everything that says what the number is. Reports read rows and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any

from babelscope.core.training import TrainedOn

BETWEEN = " > "
"""What stands in `path` between models."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured number. A column that does not apply is None (empty in a file).

    `study`, `key` and `kind` are filled in when rows are read for a study: several studies may share a step.
    """

    measure: str
    value: float
    unit: str = ""
    study: str | None = None
    key: str | None = None
    kind: str | None = None
    """What the number is: a score, a point of a curve, a probe, or what a study's measure of that name found."""
    encoder: str | None = None
    surgery: str | None = None
    schedule: str | None = None
    task: str | None = None
    train_languages: str | None = None
    """Codes of the languages of the training data, joined by +."""
    shots: int | None = None
    """Examples of the last of these languages, where they are so few that none are left to select on."""
    path: str | None = None
    """Of models between tuned ones: what those were trained on, the origin first: `qaa > qaa+qab`."""
    part: str | None = None
    """Which part of the weights moves along the path, or is measured; None: all."""
    language: str | None = None
    dataset: str | None = None
    split: str | None = None
    seed: int | None = None
    step: int | None = None
    layer: int | None = None
    word: int | None = None
    """Which of the words that are shown."""
    alpha1: float | None = None
    alpha2: float | None = None
    claim: str | None = None
    """What a comparison is about, in the study's words."""
    low: float | None = None
    """The ends of the value's 95% interval, where it has one."""
    high: float | None = None
    p: float | None = None
    """Of a difference: the two-sided p-value of none, not corrected for other differences."""

    @property
    def trained_on(self) -> str:
        """What the model was trained on, as one text: `qaa+qab:10`; empty where no column says it."""
        return _as_text(self.train_languages, self.shots) if self.train_languages else ""

    @property
    def models(self) -> tuple[str, ...]:
        """What the models were trained on that the row's model is between, the origin first, as such texts."""
        return tuple(self.path.split(BETWEEN)) if self.path else ()

    def labelled(self, **labels: Any) -> Row:
        """The same number with some columns filled in."""
        values = [*_values(self)]
        for name, label in labels.items():
            values[_PLACES[name]] = label
        return Row(*values)


@lru_cache(maxsize=4096)
def _as_text(languages: str, shots: int | None) -> str:
    """Of few that are asked for by every row of a report."""
    return str(TrainedOn(tuple(languages.split("+")), shots))


COLUMNS = (
    "study", "key", "kind", "encoder", "surgery", "schedule", "task", "train_languages", "shots", "path", "part",
    "language", "dataset", "split", "seed", "step", "layer", "word", "alpha1", "alpha2", "claim", "measure", "value",
    "low", "high", "p", "unit",
)  # fmt: skip
"""The order of columns in every file."""

_NAMES = tuple(field.name for field in fields(Row))
_PLACES = {name: place for place, name in enumerate(_NAMES)}
_values = attrgetter(*_NAMES)

assert set(COLUMNS) == set(_NAMES)


def as_record(row: Row) -> dict[str, Any]:
    """The row as a JSON object in column order, empty columns left out."""
    values = dict(zip(_NAMES, _values(row), strict=True))
    return {name: values[name] for name in COLUMNS if values[name] is not None}
