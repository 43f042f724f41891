"""Tables and sentences of what was measured during training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from babelscope.core.intervals import Interval
from babelscope.core.words import listed
from babelscope.report.model import Report
from babelscope.report.sections.probes.probed import (
    CONTROL,
    LOSSES,
    TARGET,
    Compromise,
    Crossing,
    Training,
    best_within,
    compromises,
    crossings,
    perplexities,
)
from babelscope.report.sections.probes.sizes import HEADERS, NOTE, carried_over, size_line
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.words import bounded


def probe_tables(report: Report) -> list[Table]:
    """Perplexities at the end, by token, character and byte, where curves cross, and the best compromises."""
    trainings = perplexities(report)
    crossed = crossings(report)
    tables = [_end_table(trainings)] if trainings else []
    tables += [_size_table(trainings)] if any(training.sizes for training in trainings) else []
    tables += [_crossing_table(crossed)] if crossed else []
    return tables + [_compromise_table(name, each) for name, each in compromises(report).items()]


def probe_findings(report: Report) -> list[str]:
    """When the curves cross, in words."""
    by_name: dict[str, list[Crossing]] = defaultdict(list)
    for crossing in crossings(report):
        by_name[crossing.name].append(crossing)
    per_token = [crossed[0] for crossed in by_name.values()]
    sentences = [_crossing_sentence(crossing) for crossing in per_token if crossing.interval]
    if never := [crossing.name for crossing in per_token if not crossing.interval]:
        sentences.append(f"In no seed do the curves of target and control end crossed with: {'; '.join(never)}.")
    return sentences + [
        _unit_sentence(crossed) for crossed in by_name.values() if len({each.crossed for each in crossed}) > 1
    ]


def _unit_sentence(crossed: Sequence[Crossing]) -> str:
    counts = [f"per {crossing.per} in {crossing.crossed} of {crossing.seeds} seeds" for crossing in crossed]
    return (
        f"{crossed[0].name}: whether the curves end crossed depends on what perplexity is of: {listed(counts)}. Target "
        "and control are two texts, with tokens and letters of other lengths."
    )


def _crossing_sentence(crossing: Crossing) -> str:
    what = f"{crossing.name}: the target's perplexity falls below the control's at step {_about(crossing.interval)}"
    if crossing.crossed == crossing.seeds:
        return f"{what} ({'one seed' if crossing.seeds == 1 else f'mean of {crossing.seeds} seeds'})."
    return (
        f"{what} in {crossing.crossed} of {crossing.seeds} seeds; "
        "in the others the curves do not end crossed, and they do not count."
    )


def _about(interval: Interval | None) -> str:
    return "" if interval is None else bounded(interval, digits=0)


def _end_table(trainings: Sequence[Training]) -> Table:
    """A line a condition: perplexities at its last step, references too."""
    corpora = list(dict.fromkeys([TARGET, CONTROL, *(name for training in trainings for name in training.corpora)]))
    shown = [name for name in corpora if any(name in training.corpora for training in trainings)]
    headers = ["Condition", *(header for name in shown for header in (name.capitalize(), "95% over seeds")), "Step"]
    note = "Geometric means over seeds, with Student’s t interval of the logarithms. References are not tuned: step 0."
    return Table(
        "Perplexity at the end of training", headers, [_end_line(training, shown) for training in trainings], note
    )


def _end_line(training: Training, corpora: Sequence[str]) -> list[Cell]:
    cells = [Cell(training.name)]
    for name in corpora:
        interval = training.at_end(name)
        cells += [number_cell(interval.mean if interval else None, ".2f"), bounds_cell(interval, 1.0)]
    return [*cells, number_cell(training.last, "d")]


def _size_table(trainings: Sequence[Training]) -> Table:
    """A line a condition and corpus, at the last step, for what tokenizers of several encoders make of it."""
    lines = [
        size_line(training.name, name, carried_over(interval, size), size)
        for training in trainings
        for name in training.corpora
        if (interval := training.at_end(name))
        for size in [training.sizes.get(name)]
    ]
    return Table("Perplexity at the end, per token, character and byte", HEADERS, lines, NOTE)


def _crossing_table(crossed: Sequence[Crossing]) -> Table:
    lines = [
        [
            Cell(crossing.name),
            Cell(crossing.per),
            number_cell(crossing.interval.mean if crossing.interval else None, ".0f"),
            bounds_cell(crossing.interval, 1.0),
            Cell(f"{crossing.crossed} of {crossing.seeds}"),
        ]
        for crossing in crossed
    ]
    headers = ["Condition", "Perplexity per", "Step", "95% over seeds", "Seeds that cross"]
    note = (
        "The first step at which the target gets lower, of seeds at whose end it is. Means and intervals are over "
        "these, and say nothing of the others."
    )
    return Table("Where the curves cross", headers, lines, note)


def _compromise_table(name: str, choices: Sequence[Compromise]) -> Table:
    headers = ["Rise allowed (%)", "Best condition", "At step", "Target’s perplexity", "Rise (%)", "Seeds"]
    note = (
        "The lowest perplexity of the target for a stated rise of the control’s: geometric means over seeds. "
        "Without intervals, since steps and conditions were picked for being best. “Not trained”: within that rise no "
        "step of any condition is better than the encoder as it was."
    )
    lines = [_compromise_line(choices, loss) for loss in LOSSES]
    return Table(": ".join(filter(None, ["The best compromise", name])), headers, lines, note)


def _compromise_line(choices: Sequence[Compromise], loss: float) -> list[Cell]:
    best = best_within(choices, loss)
    allowed = number_cell(100 * loss, ".0f")
    if best is None:
        before = next((choice.target for choice in choices if not choice.step), None)
        return [allowed, Cell("not trained"), Cell(""), number_cell(before, ".2f"), number_cell(0, ".1f"), Cell("")]
    return [
        allowed,
        Cell(best.condition),
        number_cell(best.step, "d"),
        number_cell(best.target, ".2f"),
        number_cell(100 * best.loss, ".1f"),
        number_cell(best.seeds, "d"),
    ]
