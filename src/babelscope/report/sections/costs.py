"""What smaller encoders save, and what it costs to make them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, number_cell

MADE = ("seconds to make", "hours to make")


@section("cost", order=86)
def costs(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """Parameters, speed and the cost of making: a line an encoder; the seeds of an operation are averaged."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    units: dict[str, str] = {}
    for row in rows:
        values[report.start(row)][row.measure].append(row.value)
        units[row.measure] = row.unit
    if values:
        means = {name: {what: sum(v) / len(v) for what, v in each.items()} for name, each in values.items()}
        lines = [
            [
                Cell(name),
                number_cell(None if (count := each.get("parameters")) is None else count / 1e6, ",.4g"),
                number_cell(each.get("relative speed"), ".2f"),
                Cell(", ".join(f"{each[what]:,.2g} {units[what]}" for what in MADE if what in each)),
            ]
            for name, each in means.items()
        ]
        headers = ["Encoder", "Parameters (million)", "Speed (times)", "To make"]
        note = (
            "Speed: of the forward pass, against the encoder that the layers were removed from, or that a peer is held "
            "against. Times are of this machine, and no two runs give the same."
        )
        yield Section("Costs", tables=[Table("Size, speed and what it costs to make", headers, lines, note)])
