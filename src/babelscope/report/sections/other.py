"""All rows that no other section shows, in one table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.report.model import Report
from babelscope.report.pooled import Kind, kinds_of
from babelscope.report.score import mean_ends
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, bounds_cell, cut, keys_of, number_cell, without_empty


@section(claims=lambda row: True, order=1000)
def other(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """What is left."""
    if rows:
        yield Section("Further results", tables=[other_table(report, rows)])


def other_table(report: Report, rows: Sequence[Row]) -> Table:
    """Means over seeds, a line for what differs in anything else."""
    groups: dict[tuple[Kind, str | None, int | None, int | None], list[Row]] = defaultdict(list)
    kind_of = kinds_of(report, rows, named=("split",))
    for row in rows:
        groups[kind_of(row), row.split, row.step, row.layer].append(row)
    lines = [_line(*key, group) for key, group in groups.items()]
    headers = ["Measure", "Unit", "Condition", "Language", "Details", "Split", "Step", "Layer", "Mean", "SD",
               "95% of one value", "Values"]  # fmt: skip
    note = "Where a value has an interval of its own, its ends averaged over the values; a single value has no SD."
    if any(measure_of(row.measure).geometric for row in rows):
        note += " Means of perplexities are geometric, and their SD is a factor."
    return cut(Table("Other measures", *without_empty(headers, lines), note, list(map(keys_of, groups.values()))))


def _line(kind: Kind, split: str | None, step: int | None, layer: int | None, rows: Sequence[Row]) -> list[Cell]:
    interval = measure_of(rows[0].measure).interval([row.value for row in rows])
    return [
        *map(Cell, (*kind, split or "")), number_cell(step, "d"), number_cell(layer, "d"),
        number_cell(interval.mean, ".4g"), number_cell(interval.sd, ".2g"), bounds_cell(mean_ends(rows), 1),
        number_cell(interval.n, "d"),
    ]  # fmt: skip
