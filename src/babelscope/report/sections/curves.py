"""Learning curves: loss on the training data and scores on the dev data, step by step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

from babelscope.core.row import Row
from babelscope.core.scores import MEASURES, measure_of
from babelscope.report.figures import Figure, line_chart
from babelscope.report.model import Report
from babelscope.report.score import scale, title_of
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, number_cell
from babelscope.report.words import capitalised

NOTE = "Means over runs, without intervals: they describe the trainings, and no claim rests on them."
GEOMETRIC = "Those of perplexities are geometric."

Run = tuple[str | None, str | None, str | None, int | None]
"""The key of a training, the data set and language that it is scored on, and its seed."""


@section(claims=lambda row: row.kind == "curve" and row.step is not None, order=100)
def curves(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """A chart for every task, split and measure; and where the curves begin and end."""
    groups = by_title(report, rows)
    figures = [
        Figure(title, _caption(group), line_chart(report, group, "step"), about={"task": title_of(group[0].task or "")})
        for title, group in groups.items()
    ]
    tables = [ends_table(report, groups)] if groups else []
    yield Section("Learning curves", (), figures, tables, side_by_side=True)


def _caption(rows: Sequence[Row]) -> str:
    return f"{measure_of(rows[0].measure).averaged.capitalize()} over runs, as far as all go; every run faintly."


def by_title(report: Report, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The curves that stand in one chart, by its title; a chart a data set where a training is scored on several."""
    together = _by_measure(rows)
    by_title: dict[str, list[Row]] = defaultdict(list)
    for title, group in together.items():
        datasets: dict[str, set[str | None]] = defaultdict(set)
        for row in group:
            datasets[report.condition(row)].add(row.dataset)
        apart = any(len(there) > 1 for there in datasets.values())
        for row in group:
            by_title[f"{title}, {row.dataset}" if apart and row.dataset else title].append(row)
    return by_title


def _by_measure(rows: Sequence[Row]) -> dict[str, list[Row]]:
    several = len({row.task for row in rows}) > 1
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        measure = MEASURES[row.measure].title if row.measure in MEASURES else capitalised(row.measure)
        title = f"{measure} on {row.split}" if row.split else measure
        groups[f"{title}, {row.task}" if several and row.task else title].append(row)
    return groups


def ends_table(report: Report, groups: dict[str, list[Row]]) -> Table:
    """The first and the last value of every condition's curves, means over runs."""
    lines, keys = [], []
    for title, rows in groups.items():
        factor, unit = scale(rows[0].unit)
        runs: dict[str, dict[Run, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
        for row in rows:
            runs[report.condition(row)][row.key, row.dataset, row.language, row.seed][row.step or 0] = row.value
        measure = measure_of(rows[0].measure)
        for condition, curves in runs.items():
            first, last = (measure.mean(curve[end(curve)] for curve in curves.values()) for end in (min, max))
            steps = fmean(max(curve) for curve in curves.values())
            numbers = [number_cell(factor * first, ".3f"), number_cell(factor * last, ".3f"), number_cell(steps, ".0f")]
            keys.append([key for key, *_ in curves if key])
            lines.append([Cell(title), Cell(condition), Cell(unit), *numbers, number_cell(len(curves), "d")])
    headers = ["Curve", "Condition", "Unit", "At the first point", "At the last", "Steps", "Runs"]
    geometric = any(measure_of(rows[0].measure).geometric for rows in groups.values())
    note = f"{NOTE} {GEOMETRIC}" if geometric else NOTE
    return Table("Where curves begin and end", headers, lines, note, keys)
