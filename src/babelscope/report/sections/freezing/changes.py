"""What freezing more layers changes: in the training language, and in the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from babelscope.core.inference import Effect, benjamini_hochberg, effect
from babelscope.report.judged import Verdict, chance, judged
from babelscope.report.score import scale
from babelscope.report.sections.freezing.sweeps import Sweep
from babelscope.report.sections.freezing.whole import Whole, count_of, mean_over, over_least, seeds_of, whole
from babelscope.report.shown import RATIOS, Shown
from babelscope.report.tables import Cell, Table, number_cell

TITLE = "With more layers frozen"


class Change(NamedTuple):
    """The scores with a number of layers frozen, and how much better they are than with the fewest."""

    sweep: Sweep
    languages: str
    frozen: int
    mean: float
    """Over languages, in the unit of the score."""
    better: Effect | None
    """None: not known yet, or these are the fewest."""

    @property
    def fewest(self) -> bool:
        """Whether fewer are never frozen, so that nothing is held against anything."""
        return self.frozen == self.sweep.numbers[0]


def changes_table(swept: Sequence[Sweep]) -> Table | None:
    """Every number of frozen layers, held against the fewest."""
    found = [change for sweep in swept for change in _changes(sweep)]
    verdicts = judged([change.better for change in found], benjamini_hochberg)
    lines = [_line(*each) for each in zip(found, verdicts, strict=True)]
    headers = ["Sweep", "Languages", "Layers frozen", "Score", "Better by", "Unit", "95% interval", "Seeds", "Verdict"]
    return Table(TITLE, headers, lines, _note(found)) if lines else None


def _changes(sweep: Sweep) -> Iterator[Change]:
    for named, places in (("trained on", sweep.own), ("other", sweep.foreign)):
        if scores := whole(places, sweep.numbers):
            yield from _by_number(sweep, f"{named} ({count_of(scores)})", scores)


def _by_number(sweep: Sweep, languages: str, scores: Whole) -> Iterator[Change]:
    seeds, tables = seeds_of(scores), over_least(scores, sweep.numbers)
    known = [effect(*table) for table in tables] if tables else [None] * len(sweep.numbers[1:])
    for number, better in zip(sweep.numbers, [None, *known], strict=True):
        yield Change(sweep, languages, number, mean_over(scores, number, seeds), better)


def _line(change: Change, verdict: Verdict) -> list[Cell]:
    shown, better = Shown.of(change.sweep.first), change.better
    size, ends = shown.cells(shown.of_better(better.interval) if better else None)
    score = number_cell(change.mean * scale(shown.unit)[0], ".1f")
    seeds = number_cell(better.seeds if better else None, "d")
    named = Cell(change.sweep.title), Cell(change.languages), number_cell(change.frozen, "d")
    unit, said = Cell(shown.unit_in_words if better else ""), Cell("" if change.fewest else verdict)
    return [*named, score, size, unit, ends, seeds, said]


def _note(found: Sequence[Change]) -> str:
    ratios = any(Shown.of(change.sweep.first).as_ratio for change in found)
    return (
        "−1: nothing is frozen, 0: the embeddings alone. Score: the mean of the languages that it was trained on, or "
        "of the others; in parentheses how many. Better by: than with the fewest layers frozen, whose line comes "
        f"first, at the same seeds. Intervals over {chance([change.better for change in found])} (over languages where "
        "there are three or more); verdicts at 5%, corrected for the lines (Benjamini and Hochberg)."
        f"{f' {RATIOS}' if ratios else ''}"
    )
