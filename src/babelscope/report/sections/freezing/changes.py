"""What freezing more layers changes: in the training language, and in the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from babelscope.core.inference import Effect, benjamini_hochberg, effect
from babelscope.report.judged import Verdict, chance, judged
from babelscope.report.score import scale
from babelscope.report.sections.freezing.sweeps import Sweep
from babelscope.report.sections.freezing.whole import Whole, frozen_in_words, mean_over, over_least, seeds_of, whole
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


def changes_table(swept: Sequence[Sweep]) -> Table | None:
    """Every number of frozen layers but the fewest, held against the fewest."""
    found = [change for sweep in swept for change in _changes(sweep)]
    effects = [change.better for change in found]
    lines = [_line(*each) for each in zip(found, judged(effects, benjamini_hochberg), strict=True)]
    headers = ["Sweep", "Languages", "Layers frozen", "Score", "Better by", "Unit", "95% interval", "Seeds", "Verdict"]
    return Table(TITLE, headers, lines, _note(found)) if lines else None


def _changes(sweep: Sweep) -> Iterator[Change]:
    for languages, places in (("trained on", sweep.own), ("other", sweep.foreign)):
        if scores := whole(places, sweep.numbers):
            yield from _of(sweep, languages, scores)


def _of(sweep: Sweep, languages: str, scores: Whole) -> Iterator[Change]:
    seeds, tables = seeds_of(scores), over_least(scores, sweep.numbers)
    for place, number in enumerate(sweep.numbers[1:]):
        better = effect(*tables[place]) if tables else None
        yield Change(sweep, languages, number, mean_over(scores, number, seeds), better)


def _line(change: Change, verdict: Verdict) -> list[Cell]:
    shown, better = Shown.of(change.sweep.first), change.better
    size, ends = shown.cells(shown.of_better(better.interval) if better else None)
    score = number_cell(change.mean * scale(shown.unit)[0], ".1f")
    seeds = number_cell(better.seeds if better else None, "d")
    named = Cell(change.sweep.title), Cell(change.languages), number_cell(change.frozen, "d")
    return [*named, score, size, Cell(shown.unit_in_words), ends, seeds, Cell(verdict)]


def _note(found: Sequence[Change]) -> str:
    fewest = dict.fromkeys(frozen_in_words(change.sweep.numbers[0]) for change in found)
    ratios = any(Shown.of(change.sweep.first).as_ratio for change in found)
    return (
        f"Better by: than with {' or '.join(fewest)}, of the same sweep, tuned with the same seeds. 0 freezes the "
        "embeddings alone. Other: the mean of the languages that it was not trained on. Intervals over "
        f"{chance([change.better for change in found])}; verdicts at 5%, corrected for the lines (Benjamini and "
        f"Hochberg).{f' {RATIOS}' if ratios else ''}"
    )
