"""What dropout in the frozen layers does to a score: the same number of layers frozen, with it and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from babelscope.core.inference import Effect, benjamini_hochberg, effect
from babelscope.core.row import Row
from babelscope.report.judged import chance, judged
from babelscope.report.model import Report
from babelscope.report.score import Score, title_of
from babelscope.report.section import Section, section
from babelscope.report.shown import RATIOS, Shown
from babelscope.report.tables import Cell, Table, number_cell

NOTE = (
    "The score with dropout in the frozen layers minus the score without, both tuned with the same seeds. What is "
    "frozen with dropout gives other states each time, so that freezing and regularising are then apart; without it, "
    "freezing more layers also takes away more dropout."
)


@section(order=41)
def frozen_dropout(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """For every schedule that the study has with dropout in its frozen part and without."""
    pairs = paired(report)
    gains = [score.samples - other.samples for score, other in pairs]
    effects = [effect(*gain.known) if gain else None for gain in gains]
    verdicts = judged(effects, benjamini_hochberg)
    judgements = zip(pairs, effects, verdicts, strict=True)
    lines = [_line(report, *pair, better, verdict) for pair, better, verdict in judgements]
    headers = ["Task", "Encoder", "Trained on", "Schedule", "Language", "Better by", "Unit", "95% interval", "Seeds",
               "Verdict"]  # fmt: skip
    note = f"{NOTE} Intervals over {chance(effects)}; verdicts at 5%, corrected for the lines (Benjamini and Hochberg)."
    note += f" {RATIOS}" if any(Shown.of(score).as_ratio for score, _ in pairs) else ""
    if lines:
        yield Section(
            "Dropout in the frozen layers", tables=[Table("With dropout minus without", headers, lines, note)]
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


def _line(report: Report, score: Score, other: Score, better: Effect | None, verdict: str) -> list[Cell]:
    shown = Shown.of(score)
    named = (title_of(score.task), report.start(score), score.training, other.schedule or "", score.place)
    size, interval = shown.cells(shown.of_better(better.interval) if better else None)
    seeds = number_cell(better.seeds if better else None, "d")
    return [*map(Cell, named), size, Cell(shown.unit_in_words), interval, seeds, Cell(verdict)]
