"""What it costs to freeze the first N layers, by language, and whether it goes with how the layers align languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from babelscope.core.correlation import spearman
from babelscope.core.intervals import Interval, student_t_interval
from babelscope.core.row import Row
from babelscope.report.figures import Chart, Figure
from babelscope.report.kinds import SCORES, is_score
from babelscope.report.model import Report, scale, title_of
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.words import capitalised, in_words, minus
from babelscope.tuning.schedule import Schedule

FEWEST = 3
"""Numbers of frozen layers that make a sweep."""


RELATED = "languages are taken for the unit, but they are related, so that the interval is narrower than it should be"


class Swept(NamedTuple):
    """A score with so many layers frozen, the mean over seeds."""

    task: str
    measure: str
    encoder: str
    language: str
    frozen: int
    """-1: nothing, 0: the embeddings, N: the first N layers too."""
    value: float
    """In the unit of the score."""
    unit: str


class Likeness(NamedTuple):
    """Spearman's rank correlation, over layers N, of how well layer N aligns two languages with the score at N."""

    task: str
    encoder: str
    by_language: dict[str, float]
    unknown: dict[str, str]
    """Language -> why it has none."""

    @property
    def interval(self) -> Interval | None:
        """Of the mean over languages; None: no language has a correlation."""
        return student_t_interval(list(self.by_language.values())) if self.by_language else None


CAPTION = "Score, mean over seeds; the colour is the change from the first column, grey where that is not known yet."


@section(order=40)
def freezing(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """Scores by the number of frozen layers, as far as the study declares several."""
    figures = [Figure(title, CAPTION, chart) for title, chart in sweep_charts(report).items()]
    tables = [table] if (table := likeness_table(report)) else []
    if figures:
        yield Section("Freezing the first layers", sweep_findings(report), figures, tables)


def frozen_layers(schedule: Schedule) -> int | None:
    """How many of the first layers it freezes (0: the embeddings alone, -1: nothing); None if that is not all."""
    return schedule.freeze if schedule == Schedule(name=schedule.name, freeze=schedule.freeze or 0) else None


def sweeps(report: Report) -> list[Swept]:
    """The scores of all schedules that freeze the first layers, where an encoder and task have three or more."""
    counts = {name: frozen_layers(schedule) for name, schedule in report.schedules.items()}
    values: dict[tuple[str, str, str, str, int, str], list[float]] = defaultdict(list)
    for row in report.rows:
        frozen = counts.get(row.schedule or "")
        if frozen is not None and is_score(row, report.main) and row.surgery is None:
            key = (row.task or "", row.measure, row.encoder or "", row.language or "", frozen, row.unit)
            values[key].append(row.value)
    swept = [Swept(*key[:5], sum(each) / len(each), key[5]) for key, each in values.items()]
    steps: dict[tuple[str, str], set[int]] = defaultdict(set)
    for score in swept:
        steps[score.task, score.encoder].add(score.frozen)
    return [score for score in swept if len(steps[score.task, score.encoder]) >= FEWEST]


def sweep_charts(report: Report) -> dict[str, Chart]:
    """A heat map a task and encoder: languages by number of frozen layers, coloured by the change from none frozen."""
    groups: dict[str, list[Swept]] = defaultdict(list)
    for swept in sweeps(report):
        groups[f"Layers frozen: {title_of(swept.task)}, {swept.encoder}"].append(swept)
    return {title: _heat_map(report, group) for title, group in groups.items()}


def likenesses(report: Report) -> list[Likeness]:
    """For every task and encoder with a sweep and retrieval by layer: their rank correlation in each language."""
    aligned: dict[tuple[str, str, int], float] = {}
    for row in report.rows:
        if row.kind == "retrieval" and row.layer is not None and row.surgery is None and row.seed is None:
            aligned[row.encoder or "", row.language or "", row.layer] = row.value
    pairs: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for swept in sweeps(report):
        if (there := aligned.get((swept.encoder, swept.language, swept.frozen))) is not None:
            better = SCORES[swept.measure].sign * swept.value
            pairs[swept.task, swept.encoder][swept.language].append((there, better))
    return [_likeness(*key, by_language) for key, by_language in pairs.items()]


def likeness_table(report: Report) -> Table | None:
    """The rank correlations."""
    lines = []
    for likeness in likenesses(report):
        named = [Cell(title_of(likeness.task)), Cell(likeness.encoder)]
        for code, value in likeness.by_language.items():
            lines.append([*named, Cell(report.labels.get(code, code)), number_cell(value, ".2f"), Cell("")])
        for code, why in likeness.unknown.items():
            lines.append([*named, Cell(report.labels.get(code, code)), Cell(why), Cell("")])
        if mean := likeness.interval:
            lines.append([*named, Cell(f"mean of {mean.n}"), number_cell(mean.mean, ".2f"), bounds_cell(mean, 1)])
    headers = ["Task", "Encoder", "Language", "Spearman’s ρ", "95% over languages"]
    note = (
        "Over layers N: share of sentences whose translation is found in layer N, against the score with N frozen. "
        f"{capitalised(RELATED)}."
    )
    return Table("Does the best number of frozen layers go with alignment?", headers, lines, note) if lines else None


def sweep_findings(report: Report) -> list[str]:
    """Which number of frozen layers is best, and the correlation, in words."""
    groups: dict[tuple[str, str], list[Swept]] = defaultdict(list)
    sources = {code for score in report.scores for code in score.sources}
    for swept in sweeps(report):
        if swept.language not in sources:
            groups[swept.task, swept.encoder].append(swept)
    best = [_best_in_words(group) for group in groups.values()]
    return [*filter(None, best), *(_likeness_in_words(likeness) for likeness in likenesses(report))]


def _likeness(task: str, encoder: str, pairs: Mapping[str, Sequence[tuple[float, float]]]) -> Likeness:
    unknown = {code: why for code, each in pairs.items() if (why := _why_unknown(each))}
    known = {code: each for code, each in pairs.items() if code not in unknown}
    correlations = {code: float(spearman(*np.array(each, dtype=np.float64).T)) for code, each in known.items()}
    return Likeness(task, encoder, correlations, unknown)


def _why_unknown(pairs: Sequence[tuple[float, float]]) -> str:
    """Why no rank correlation can be computed; empty if one can."""
    if len(pairs) < FEWEST:
        return f"cannot be computed: {len(pairs)} numbers of frozen layers so far"
    for what, values in zip(("retrieval", "score"), zip(*pairs, strict=True), strict=True):
        if len(set(values)) == 1:
            return f"cannot be computed: the {what} is the same at every N"
    return ""


def _best_in_words(group: Sequence[Swept]) -> str:
    """Of the languages that have every N, so that the means are over the same ones; empty if there is none."""
    by_language: dict[str, dict[int, float]] = defaultdict(dict)
    for swept in group:
        by_language[swept.language][swept.frozen] = swept.value
    counts = sorted({swept.frozen for swept in group})
    whole = [values for values in by_language.values() if len(values) == len(counts)]
    if not whole:
        return ""
    measure = SCORES[group[0].measure]
    means = {frozen: sum(values[frozen] for values in whole) / len(whole) for frozen in counts}
    top, least = max(counts, key=lambda frozen: measure.sign * means[frozen]), counts[0]
    best, first = (in_words(Interval(means[frozen], None, None, None, 1), group[0].unit) for frozen in (top, least))
    what = f"{title_of(group[0].task)}, {group[0].encoder}: zero-shot {measure.name} is"
    against = "" if top == least else f"; {first} with {_frozen(least)}"
    part = "" if len(whole) == len(by_language) else f"; over {_languages(len(whole))} with every N"
    if len(set(means.values())) == 1:
        return f"{what} {best} on average, whatever is frozen{part}."
    return f"{what} best on average with {_frozen(top)} ({best}{against}{part})."


def _likeness_in_words(likeness: Likeness) -> str:
    start = f"{title_of(likeness.task)}, {likeness.encoder}: rank correlation with how well the layers align languages"
    reasons = "; ".join(dict.fromkeys(likeness.unknown.values()))
    mean = likeness.interval
    if mean is None:
        return f"{start} {reasons}."
    numbers = f"{mean.mean:.2f}" + ("" if mean.low is None else f" [{mean.low:.2f}, {mean.high:.2f}]")
    rest = f" ({len(likeness.unknown)} more {reasons})" if reasons else ""
    related = "" if mean.low is None else f"; {RELATED}"
    return f"{start} {minus(numbers)}, mean over {_languages(mean.n)}{rest}{related}."


def _languages(count: int) -> str:
    return f"{count} language{'' if count == 1 else 's'}"


def _frozen(count: int) -> str:
    named = {-1: "nothing frozen", 0: "the embeddings frozen", 1: "one layer frozen"}
    return named.get(count, f"{count} layers frozen")


def _heat_map(report: Report, group: list[Swept]) -> Chart:
    factor, unit = scale(group[0].unit)
    start = {swept.language: swept.value for swept in group if swept.frozen == min(each.frozen for each in group)}
    table = pd.DataFrame(
        {
            "language": report.labels.get(swept.language, swept.language),
            "frozen": swept.frozen,
            "score": swept.value * factor,
            "change": (swept.value - start[swept.language]) * factor if swept.language in start else None,
        }
        for swept in group
    )
    order = [label for label in dict.fromkeys(report.labels.values()) if label in set(table["language"])]
    base = alt.Chart(table).encode(
        x=alt.X("frozen:O", title="First layers frozen (−1: nothing, 0: embeddings)", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("language:N", title=None, sort=order, axis=alt.Axis(labelLimit=240)),
    )
    widest = max(1.0, float(table["change"].abs().max()))
    colours = alt.Scale(scheme="blueorange", domain=[widest, 0, -widest])
    colour = alt.Color("change:Q", title=f"Change ({unit})", scale=colours)
    tooltip = ["language", "frozen", alt.Tooltip("score:Q", format=".2f")]
    cells = base.mark_rect().encode(color=colour, tooltip=tooltip)
    unknown = base.transform_filter("datum.change === null").mark_rect(color="#ccc").encode(tooltip=tooltip)
    text = base.mark_text(fontSize=11).encode(text=alt.Text("score:Q", format=".1f"), color=alt.value("#111"))
    return alt.layer(cells, unknown, text).properties(width="container", height=28 * table["language"].nunique())
