"""Rows as format 1 had them, made from today's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from babelscope.core.row import Row

COLUMNS = (
    "study", "key", "encoder", "surgery", "schedule", "task", "train_languages", "language", "dataset", "split", "seed",
    "step", "layer", "alpha1", "alpha2", "measure", "value", "unit",
)  # fmt: skip


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
