"""Tables of scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from babelscope.core.intervals import Interval
from babelscope.core.samples import Samples, mean_of
from babelscope.core.scores import MEASURES, measure_of
from babelscope.report.kinds import COMPANIONS
from babelscope.report.model import Report
from babelscope.report.score import Score, scale
from babelscope.report.sections.scores.findings import Difference
from babelscope.report.shown import RATIOS, Shown
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.words import in_words

_ACRONYMS = {"uas": "UAS", "las.nopunct": "LAS.nopunct", "uas.nopunct": "UAS.nopunct"}
INTERVALS = (
    "The 95% interval says how other seeds and, where what each sentence adds was kept, other test sentences could "
    "have come out; it needs three seeds, and is cut where no score can be. The one over sentences alone says it of "
    "these very models: the mean of each one's ends."
)
BESIDE = {
    "coverage": "Coverage: words that were given a label.",
    "unknown": "Unknown: words with a letter or sign that the tokenizer does not know.",
}
"""What stands beside a score and does not speak for itself."""
GEOMETRIC = (
    "Means are geometric, and intervals those of their logarithms, the loss per token; the SD is a factor, and so is "
    "the gap: by how much the perplexity is higher than on the training language."
)
WIDEST = 12
"""Conditions beside each other."""


def glance_table(report: Report, scores: Sequence[Score]) -> Table | None:
    """A line a place, a column a condition; None of more conditions than can stand beside each other."""
    there = {score.condition for score in scores}
    conditions = [name for name in report.conditions if name in there]
    if len(conditions) > WIDEST:
        return None
    cells = {(s.place, s.condition): Cell(in_words(s.interval, s.unit), s.interval.mean, s.keys) for s in scores}
    lines = [
        [Cell(place), *(cells.get((place, name), Cell("")) for name in conditions)]
        for place in dict.fromkeys(score.place for score in scores)
    ]
    known = ", with its 95% interval where that is known" if any(s.interval.low is not None for s in scores) else ""
    note = f"{MEASURES[scores[0].measure].averaged.capitalize()} over seeds{known}."
    return Table("At a glance", ["", *conditions], lines, note)


def score_table(scores: Sequence[Score]) -> Table:
    """A line a place and condition, with every kind of uncertainty that the rows hold."""
    _, unit = scale(scores[0].unit)
    shown = Shown.of(scores[0])
    beside = [name for name in COMPANIONS if any(name in score.companions for score in scores)]
    on_source: dict[str, list[Samples]] = defaultdict(list)
    for score in scores:
        if score.is_whole_source:
            on_source[score.condition].append(score.samples)
    source = {condition: mean_of(samples) for condition, samples in on_source.items()}
    several = any(len(samples) > 1 for samples in on_source.values())
    headers = ["Language", "Condition", f"Mean{f' ({unit})' if unit else ''}", "95% interval", "SD", "Seeds",
               "Best seed", "95% over sentences", "Gap to source"]  # fmt: skip
    headers += [_ACRONYMS.get(name, name.capitalize()) for name in beside]
    lines = [_score_line(score, shown, source.get(score.condition), beside) for score in scores]
    note = INTERVALS + (" Gap to source: how much worse than the mean over the training languages." if several else "")
    note += "".join(f" {about}" for name, about in BESIDE.items() if name in beside)
    if shown.as_ratio:
        note += f" {GEOMETRIC}"
    title = f"{MEASURES[scores[0].measure].title} by language"
    return Table(title, headers, lines, note, [score.keys for score in scores])


def difference_table(compared: Sequence[Difference]) -> Table:
    """Every encoder minus itself untrained."""
    shown = Shown.of(compared[0].score)
    lines = [
        [
            Cell(difference.score.place),
            Cell(difference.score.condition),
            *shown.cells(difference.higher),
            Cell(difference.verdict),
        ]
        for difference in compared
    ]
    size = "Ratio" if shown.as_ratio else shown.unit_in_words.capitalize() or "Difference"
    headers = ["Language", "Condition", size, "95% interval", "Verdict"]
    keys = [[*difference.score.keys, *difference.reference.keys] for difference in compared]
    if shown.as_ratio:
        return Table("Pretrained over untrained", headers, lines, RATIOS, keys)
    return Table("Pretrained minus untrained", headers, lines, keys=keys)


def _score_line(score: Score, shown: Shown, source: Samples | None, beside: Sequence[str]) -> list[Cell]:
    interval, best, factor = score.interval, score.best_seed, scale(score.unit)[0]
    beyond = None if source is None or score.is_whole_source else source.beyond(score.samples)
    gap = None if beyond is None else Interval(beyond.mean, None, None, None, 0)
    return [
        Cell(score.place),
        Cell(score.condition),
        number_cell(interval.mean * factor, ".2f"),
        bounds_cell(interval, factor),
        shown.spread(score.samples.sd),
        number_cell(score.seeds or None, "d"),
        Cell(f"{score.by_seed[best] * factor:.2f} (seed {best})", score.by_seed[best]) if score.seeds else Cell(""),
        bounds_cell(score.sentences, factor),
        shown.cells(gap, ".1f")[0],
        *(_companion(name, score.companions) for name in beside),
    ]


def _companion(name: str, companions: Mapping[str, float]) -> Cell:
    value, unit = companions.get(name), measure_of(name).unit
    if unit == "share":
        return number_cell(value, ".1%")
    return number_cell(None if value is None else scale(unit)[0] * value, ".2f" if unit == "correlation" else ",.0f")
