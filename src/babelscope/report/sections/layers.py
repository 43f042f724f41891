"""Whatever was measured layer by layer and has no section of its own: a chart a measure, and a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import fmean

from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.report.figures import Figure, line_chart
from babelscope.report.model import Report
from babelscope.report.pooled import Kind, kinds_of
from babelscope.report.score import scale
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, cut, keys_of, number_cell, without_empty
from babelscope.report.words import capitalised

_NUMBERED = "Layers count from 1; 0, where there is one, is the embeddings."


@section(claims=lambda row: row.layer is not None and row.step is None, order=900)
def layers(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """All of it."""
    if rows:
        yield Section("Layer by layer", (), layer_figures(report, rows), [layer_table(report, rows)], side_by_side=True)


def layer_figures(report: Report, rows: Sequence[Row]) -> list[Figure]:
    """A chart a measure, a line a condition."""
    groups: dict[str, list[Row]] = defaultdict(list)
    kind_of = kinds_of(report, rows)
    for row in rows:
        groups[", ".join(filter(None, [capitalised(row.measure), kind_of(row).details]))].append(row)
    return [_figure(report, title, group) for title, group in groups.items()]


def _figure(report: Report, title: str, rows: Sequence[Row]) -> Figure:
    """Of one language, with its runs; of several, with a line for each, so that the page stays light."""
    places = sorted({report.place(row) for row in rows} - {""})
    if len(places) > 1:
        by_place = _by_place(report, rows)
        shared = _at_shared_places(report, by_place)
        of = "languages" if len(shared) == len(by_place) else "those languages that all lines have"
        chart = line_chart(report, by_place, "layer", shared)
        return Figure(
            title, f"Mean over {of if shared else 'each line’s languages'}; every one faintly. {_NUMBERED}", chart
        )
    about = {"language": places[0]} if places else {}
    title = ", ".join([title, *places])
    caption = f"Mean over runs; every run faintly. {_NUMBERED}"
    return Figure(title, caption, line_chart(report, rows, "layer"), about=about)


def _at_shared_places(report: Report, rows: Sequence[Row]) -> list[Row]:
    """Those of languages that every condition has, whose means can be compared."""
    places: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        places[report.condition(row)].add(report.place(row))
    shared = set.intersection(*places.values())
    return [row for row in rows if report.place(row) in shared]


def _by_place(report: Report, rows: Sequence[Row]) -> list[Row]:
    """A number a condition, language and layer: the mean over runs."""
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[report.condition(row), report.place(row), row.layer].append(row)
    mean = measure_of(rows[0].measure).mean
    return [group[0].labelled(seed=None, value=mean([row.value for row in group])) for group in groups.values()]


def layer_table(report: Report, rows: Sequence[Row]) -> Table:
    """A line for what is measured, a column a layer."""
    groups: dict[Kind, dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    kind_of = kinds_of(report, rows)
    for row in rows:
        groups[kind_of(row)][row.layer or 0].append(row)
    shown = sorted({layer for by_layer in groups.values() for layer in by_layer})
    lines = [_line(kind, by_layer, shown) for kind, by_layer in groups.items()]
    headers = ["Measure", "Condition", "Language", "Details", "Unit", *map(str, shown), "Runs"]
    note = (
        "Means over runs, a column a layer; 0 is the embeddings. Without intervals, since an encoder as it is is one "
        "run; those of tuned models are in the rows, a number a seed."
    )
    keys = [keys_of(chain.from_iterable(by_layer.values())) for by_layer in groups.values()]
    return cut(Table("By layer", *without_empty(headers, lines), note, keys))


def _line(kind: Kind, by_layer: dict[int, list[Row]], shown: Sequence[int]) -> list[Cell]:
    factor, unit = scale(kind.unit)
    form = ".1f" if factor == 100 else ".4g"
    means = {layer: factor * fmean(row.value for row in rows) for layer, rows in by_layer.items()}
    numbers = [number_cell(means.get(layer), form) for layer in shown]
    runs = number_cell(max(map(len, by_layer.values())), "d")
    return [*map(Cell, (kind.measure, kind.condition, kind.place, kind.details, unit)), *numbers, runs]
