"""Tables of the page as plain values: a title, headers, and cells that carry what they sort by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from babelscope.core.intervals import Interval, student_t_interval
from babelscope.report.aligned import is_similarity
from babelscope.report.contrasts import Effect
from babelscope.report.findings import Difference
from babelscope.report.kinds import COMPANIONS, SCORES, is_between, is_companion, is_curve, is_gain, is_probe, is_score
from babelscope.report.model import Report, Score, points_of, scale
from babelscope.report.published import is_published

_ACRONYMS = {"uas": "UAS", "las.nopunct": "LAS.nopunct", "uas.nopunct": "UAS.nopunct"}
LONGEST = 1000
"""Lines of a table on the page; the rest is in the downloaded rows."""


@dataclass(frozen=True)
class Cell:
    """What is shown, and the number it sorts by (None: it sorts by its text; an empty cell comes last)."""

    text: str
    number: float | None = None


@dataclass(frozen=True)
class Table:
    """Headers and lines of cells; a column whose cells carry numbers is set to the right."""

    title: str
    headers: Sequence[str]
    lines: Sequence[Sequence[Cell]]
    note: str = ""

    @property
    def numeric(self) -> set[int]:
        """The columns whose cells carry numbers."""
        return {column for line in self.lines for column, cell in enumerate(line) if cell.number is not None}


def score_table(scores: Sequence[Score]) -> Table:
    """A line a place and condition, with every kind of uncertainty that the rows hold."""
    factor, unit = scale(scores[0].unit)
    beside = [name for name in COMPANIONS if any(name in score.companions for score in scores)]
    on_source: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        if score.is_source:
            on_source[score.condition].append(score.interval.mean)
    source = {condition: sum(means) / len(means) for condition, means in on_source.items()}
    several = any(len(means) > 1 for means in on_source.values())
    headers = ["Language", "Condition", f"Mean{f' ({unit})' if unit else ''}", "95% over seeds", "SD", "Seeds",
               "Best seed", "95% over sentences", "Gap to source"]  # fmt: skip
    headers += [_ACRONYMS.get(name, name.capitalize()) for name in beside]
    lines = [_score_line(score, factor, source.get(score.condition), beside) for score in scores]
    note = "Gap to source: how much worse than the mean over the training languages." if several else ""
    return Table(f"{SCORES[scores[0].measure].title} by language", headers, lines, note)


def difference_table(found: Sequence[Difference]) -> Table:
    """Every encoder minus itself untrained."""
    factor, unit = scale(found[0].score.unit)
    lines = [
        [
            Cell(one.score.place),
            Cell(one.score.condition),
            number_cell(one.interval.mean * factor, "+.1f"),
            bounds_cell(one.interval, factor),
            Cell(one.verdict),
        ]
        for one in found
    ]
    headers = ["Language", "Condition", points_of(unit).capitalize() or "Difference", "95% interval", "Verdict"]
    return Table("Pretrained minus untrained", headers, lines)


def effect_table(found: Sequence[Effect]) -> Table:
    """The effects that the study looks for, each over all tasks first."""
    lines = []
    for one in found:
        factor, _ = scale(one.unit)
        lines.append(
            [
                Cell(f"{one.first} − {one.second}"),
                Cell(one.where),
                number_cell(one.interval.mean * factor if one.interval else None, "+.1f"),
                bounds_cell(one.interval, factor),
                number_cell(one.interval.n if one.interval else None, "d"),
                Cell(one.verdict),
                Cell(one.claim),
            ]
        )
    headers = ["Difference of", "Task", "Points", "95% interval", "Seeds", "Verdict", "Claim"]
    note = (
        "Paired by the seeds that both ran (Welch’s interval where they share none); an effect shows if its interval "
        "leaves out zero."
    )
    return Table("Every effect on every task", headers, lines, note)


def other_table(report: Report) -> Table | None:
    """Rows that have no table of their own, averaged over seeds; None where there are none."""
    groups: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for row in report.rows:
        shown = is_score(row) or is_companion(row) or is_curve(row) or is_probe(row) or is_similarity(row)
        if not (shown or is_published(row) or row.task == "projection" or is_gain(row) or is_between(row)):
            labels = (report.condition(row), report.place(row), row.split, row.step, row.layer)
            groups[row.measure, row.unit, *labels].append(row.value)
    lines = [_other_line(key, values) for key, values in groups.items()]
    cut = f"The first {LONGEST:,} of {len(lines):,} lines; the rows hold them all." if len(lines) > LONGEST else ""
    headers = ["Measure", "Unit", "Condition", "Language", "Split", "Step", "Layer", "Mean", "SD", "Values"]
    return Table("Other measures", headers, lines[:LONGEST], cut) if lines else None


def _score_line(score: Score, factor: float, source: float | None, beside: Sequence[str]) -> list[Cell]:
    interval, best = score.interval, score.best_seed
    gap = None if source is None or score.is_source else score.sign * (source - interval.mean) * factor
    return [
        Cell(score.place),
        Cell(score.condition),
        number_cell(interval.mean * factor, ".2f"),
        bounds_cell(interval, factor),
        number_cell(None if interval.sd is None else interval.sd * factor, ".2f"),
        number_cell(score.seeds or None, "d"),
        Cell(f"{score.by_seed[best] * factor:.2f} (seed {best})", score.by_seed[best]) if score.seeds else Cell(""),
        bounds_cell(score.sentences, factor),
        number_cell(gap, ".1f"),
        *(_companion(name, score.companions) for name in beside),
    ]


def _companion(name: str, companions: Mapping[str, float]) -> Cell:
    value = companions.get(name)
    return number_cell(value, ",.0f") if name in ("words", "examples") else number_cell(value, ".1%")


def _other_line(key: tuple[Any, ...], values: Sequence[float]) -> list[Cell]:
    interval = student_t_interval(values)
    texts = [Cell(str(part), part if isinstance(part, int) else None) if part is not None else Cell("") for part in key]
    return [*texts, number_cell(interval.mean, ".4g"), number_cell(interval.sd, ".2g"), number_cell(interval.n, "d")]


def number_cell(value: float | None, form: str) -> Cell:
    """A number in a format, with a minus sign; empty for None."""
    return Cell("") if value is None else Cell(format(value, form).replace("-", "−"), value)


def bounds_cell(bounds: Interval | tuple[float, float] | None, factor: float) -> Cell:
    """The two ends of an interval, times a factor; empty where they are not known."""
    low, high = (bounds.low, bounds.high) if isinstance(bounds, Interval) else bounds or (None, None)
    if low is None or high is None:
        return Cell("")
    return Cell(f"[{low * factor:.2f}, {high * factor:.2f}]".replace("-", "−"), low * factor)
