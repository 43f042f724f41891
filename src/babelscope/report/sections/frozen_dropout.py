"""What dropout in the frozen layers does to a score: the same number of layers frozen, with it and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.intervals import Interval, difference_interval
from babelscope.core.row import Row
from babelscope.report.model import Report, Score, points_of, scale, title_of
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell

NOTE = (
    "The score with dropout in the frozen layers minus the score without, both tuned with the same seeds; Student’s t "
    "interval over them. What is frozen with dropout gives other states each time, so that freezing and regularising "
    "are then apart; without it, freezing more layers also takes away more dropout. No interval: one seed, or seeds "
    "that all differ by the same."
)


@section(order=41)
def frozen_dropout(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """For every schedule that the study has with dropout in its frozen part and without."""
    lines = [_line(score, other) for score, other in paired(report)]
    headers = ["Task", "Encoder", "Schedule", "Language", "Difference", "Unit", "95% interval", "Seeds"]
    if lines:
        yield Section(
            "Dropout in the frozen layers", tables=[Table("With dropout minus without", headers, lines, NOTE)]
        )


def paired(report: Report) -> list[tuple[Score, Score]]:
    """Scores under a schedule with dropout in the frozen part, each with the same one without it."""
    plain = {
        schedule.model_copy(update={"name": ""}): name
        for name, schedule in report.schedules.items()
        if not schedule.frozen_dropout
    }
    without = {
        name: plain.get(schedule.model_copy(update={"name": "", "frozen_dropout": False}))
        for name, schedule in report.schedules.items()
        if schedule.frozen_dropout
    }
    by_place = {_place(score, score.schedule): score for score in report.scores}
    pairs = ((score, by_place.get(_place(score, without.get(score.schedule or "")))) for score in report.scores)
    return [(score, other) for score, other in pairs if other and without.get(score.schedule or "")]


def _place(score: Score, schedule: str | None) -> tuple[object, ...]:
    """What two scores have in common that differ in the schedule alone."""
    return score.task, score.measure, score.encoder, score.surgery, score.place, score.training, schedule


def _line(score: Score, other: Score) -> list[Cell]:
    difference: Interval = difference_interval(score.by_seed, other.by_seed)
    factor, symbol = scale(score.unit)
    named = (title_of(score.task), score.encoder, other.schedule or "", score.place)
    numbers = [number_cell(factor * difference.mean, "+.1f"), Cell(points_of(symbol)), bounds_cell(difference, factor)]
    return [*map(Cell, named), *numbers, number_cell(difference.n, "d")]
