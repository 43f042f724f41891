"""What drawing layers anew changes, place by place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from babelscope.core.intervals import Interval
from babelscope.report.model import Report
from babelscope.report.score import scale, title_of, within_bounds
from babelscope.report.sections.redrawn_layers.reinitialised import Layers, Reinitialised, numbers_of, reinitialised
from babelscope.report.shown import Shown
from babelscope.report.tables import Cell, Table
from babelscope.report.words import bounded


def reinitialised_tables(report: Report) -> list[Table]:
    """One a task: a line for the source, the mean of the other languages, and each of them."""
    tasks: dict[tuple[str, str], list[Reinitialised]] = defaultdict(list)
    for redrawn in reinitialised(report):
        tasks[redrawn.first.task, redrawn.first.measure].append(redrawn)
    return [_table(group) for group in tasks.values()]


def _table(group: Sequence[Reinitialised]) -> Table:
    layers = sorted({drawn for redrawn in group for drawn in redrawn.layers})
    unit = scale(group[0].first.unit)[1]
    shown = Shown.of(group[0].first)
    measure = shown.measure
    headers = ["Trained on → scored on", "Encoder", f"{measure.title}{f' ({unit})' if unit else ''}"]
    headers += [f"Δ {numbers_of(drawn)}" for drawn in layers]
    listed = [(redrawn, where, places) for redrawn in group for where, places in _places(redrawn).items()]
    lines = [
        [Cell(f"{redrawn.first.training} → {where}"), Cell(redrawn.encoder), *_cells(redrawn, layers, places, shown)]
        for redrawn, where, places in listed
    ]
    change = "how many times as high it is then" if shown.as_ratio else f"{shown.unit_in_words} gained"
    note = (
        f"Layers, counted from 1, are reinitialised before tuning; Δ: {change}, with the 95% interval "
        "over seeds, test sentences as far as they are known, and for a mean over three or more languages these too; "
        "none where fewer than three seeds say too little, as of what was published. Those of scores are cut where no "
        "score can be."
    )
    note += " Means are geometric." if shown.as_ratio else ""
    keys = [redrawn.keys(places) for redrawn, _, places in listed]
    return Table(f"Layers reinitialised: {title_of(group[0].first.task)}", headers, lines, note, keys)


def _places(redrawn: Reinitialised) -> Mapping[str, Sequence[str]]:
    """By what a line is called: the places that it is the mean of."""
    several = {f"X (mean of {redrawn.foreign_languages})": redrawn.foreign} if len(redrawn.foreign) > 1 else {}
    return {place: [place] for place in redrawn.sources} | several | {place: [place] for place in redrawn.foreign}


def _cells(redrawn: Reinitialised, layers: Sequence[Layers], places: Sequence[str], shown: Shown) -> list[Cell]:
    score, factor = redrawn.score(places), scale(shown.unit)[0]
    whole = within_bounds(shown.measure.taken_back(score.interval), shown.unit) if score else None
    changes = [redrawn.change(drawn, places) if drawn in redrawn.without else None for drawn in layers]
    numbers = [shown.cell(change.interval if change else None, "+.2f") for change in changes]
    return [_cell(whole, factor), *numbers]


def _cell(known: Interval | None, factor: float) -> Cell:
    return Cell("") if known is None else Cell(bounded(known, factor, digits=2), known.mean * factor)
