"""Rows as format 1 had them, made from today's: what a store of format 1 holds must come out byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

import pandas as pd

from babelscope.core.row import Row

COLUMNS = (
    "study", "key", "encoder", "surgery", "schedule", "task", "train_languages", "language", "dataset", "split", "seed",
    "step", "layer", "alpha1", "alpha2", "measure", "value", "unit",
)  # fmt: skip
KINDS = {name: "Int64" for name in ("seed", "step", "layer")} | {"alpha1": "Float64", "alpha2": "Float64"}


def as_format_1(rows: Iterable[Row]) -> Iterator[dict[str, object]]:
    """Each row with the columns of then, its interval's ends after it."""
    for row in rows:
        old = {name: value for name, value in asdict(row).items() if name in COLUMNS} | _packed(row)
        for end, value in (("", row.value), (".low", row.low), (".high", row.high)):
            if value is not None:
                yield old | {"measure": f"{old['measure']}{end}", "value": value}


def _packed(row: Row) -> dict[str, object]:
    """The columns that held more than one thing."""
    packed: dict[str, object] = {"train_languages": row.trained_on or None}
    if row.path:
        alone = f", {row.part} alone" if row.part in ("encoder", "head") and row.kind == "interpolation" else ""
        packed["train_languages"] = row.path + alone
    if row.kind == "angle":
        packed["dataset"] = row.part
    if row.word is not None:
        packed["dataset"] = f"{row.dataset} {row.word}"
    if row.claim:
        packed["measure"] = f"{row.measure}: {row.claim}"
    return packed


def lines_of_format_1(rows: Iterable[Row]) -> list[str]:
    """The lines of the CSV file of then, sorted; the header first."""
    table = pd.DataFrame([[row[name] for name in COLUMNS] for row in as_format_1(rows)], columns=list(COLUMNS))
    kinds = KINDS | {"value": "float64"}
    table = table.astype(kinds | {name: "string" for name in COLUMNS if name not in kinds})
    header, *lines = table.to_csv(index=False).splitlines()
    return [header, *sorted(lines)]
