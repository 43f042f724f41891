"""Whatever was measured layer by layer and has no section of its own: a chart a measure and language, and a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

from babelscope.core.row import Row
from babelscope.report.figures import Figure, line_chart
from babelscope.report.model import Report, scale
from babelscope.report.pooled import Kind, kinds_of
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, cut, number_cell, without_empty
from babelscope.report.words import capitalised

CAPTION = "Mean over runs; every run faintly. Layers count from 1; 0, where there is one, is the embeddings."


@section(claims=lambda row: row.layer is not None and row.step is None, order=900)
def layers(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """All of it."""
    if rows:
        yield Section("Layer by layer", (), layer_figures(report, rows), [layer_table(report, rows)], side_by_side=True)


def layer_figures(report: Report, rows: Sequence[Row]) -> list[Figure]:
    """A chart a measure and place, a line a condition."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    kind_of = kinds_of(report, rows)
    for row in rows:
        kind = kind_of(row)
        title = ", ".join(filter(None, [capitalised(row.measure), kind.place, kind.details]))
        groups[title, kind.place].append(row)
    return [
        Figure(title, CAPTION, line_chart(report, group, "layer"), about={"language": place} if place else {})
        for (title, place), group in groups.items()
    ]


def layer_table(report: Report, rows: Sequence[Row]) -> Table:
    """A line for what is measured, a column a layer."""
    groups: dict[Kind, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    kind_of = kinds_of(report, rows)
    for row in rows:
        groups[kind_of(row)][row.layer or 0].append(row.value)
    shown = sorted({layer for by_layer in groups.values() for layer in by_layer})
    lines = [_line(kind, by_layer, shown) for kind, by_layer in groups.items()]
    headers = ["Measure", "Condition", "Language", "Details", "Unit", *map(str, shown), "Runs"]
    note = (
        "Means over runs, a column a layer; 0 is the embeddings. Without intervals, since an encoder as it is is one "
        "run; those of tuned models are in the rows, a number a seed."
    )
    return cut(Table("By layer", *without_empty(headers, lines), note))


def _line(kind: Kind, by_layer: dict[int, list[float]], shown: Sequence[int]) -> list[Cell]:
    factor, unit = scale(kind.unit)
    form = ".1f" if factor == 100 else ".4g"
    numbers = [number_cell(factor * fmean(by_layer[layer]) if layer in by_layer else None, form) for layer in shown]
    runs = number_cell(max(map(len, by_layer.values())), "d")
    return [*map(Cell, (kind.measure, kind.condition, kind.place, kind.details, unit)), *numbers, runs]
