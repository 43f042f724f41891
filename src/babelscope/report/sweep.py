"""What it costs to freeze the first N layers, by language, and whether it goes with how the layers align languages."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

import altair as alt
import pandas as pd
from scipy.stats import spearmanr

from babelscope.report.figures import Chart
from babelscope.report.model import Report, is_score, scale, title_of
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.statistics import Interval, student_t_interval

FEWEST = 3
"""Numbers of frozen layers that make a sweep."""


class Swept(NamedTuple):
    """A score with so many layers frozen, the mean over seeds."""

    task: str
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

    @property
    def interval(self) -> Interval:
        """Of the mean over languages."""
        return student_t_interval(list(self.by_language.values()))


def sweeps(report: Report) -> list[Swept]:
    """The scores of all schedules `freeze:N`, where an encoder and task have at least three of them."""
    values: dict[tuple[str, str, str, int, str], list[float]] = defaultdict(list)
    for row in report.rows:
        found = re.fullmatch(r"freeze:(-?\d+)", row.schedule or "")
        if found and is_score(row) and row.surgery is None:
            key = (row.task or "", row.encoder or "", row.language or "", int(found[1]), row.unit)
            values[key].append(row.value)
    swept = [Swept(*key[:4], sum(each) / len(each), key[4]) for key, each in values.items()]
    steps: dict[tuple[str, str], set[int]] = defaultdict(set)
    for one in swept:
        steps[one.task, one.encoder].add(one.frozen)
    return [one for one in swept if len(steps[one.task, one.encoder]) >= FEWEST]


def sweep_charts(report: Report) -> dict[str, Chart]:
    """A heat map a task and encoder: languages by number of frozen layers, coloured by the change from none frozen."""
    groups: dict[str, list[Swept]] = defaultdict(list)
    for one in sweeps(report):
        groups[f"Layers frozen: {title_of(one.task)}, {one.encoder}"].append(one)
    return {title: _heat_map(report, group) for title, group in groups.items()}


def likenesses(report: Report) -> list[Likeness]:
    """For every task and encoder with a sweep and retrieval by layer: their rank correlation in each language."""
    aligned: dict[tuple[str, str, int], float] = {}
    for row in report.rows:
        if row.measure == "retrieval" and row.layer is not None and row.surgery is None:
            aligned[row.encoder or "", row.language or "", row.layer] = row.value
    pairs: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for one in sweeps(report):
        if (there := aligned.get((one.encoder, one.language, one.frozen))) is not None:
            pairs[one.task, one.encoder][one.language].append((there, one.value))
    return [
        Likeness(*key, {code: float(spearmanr(*zip(*each, strict=True)).statistic) for code, each in by.items()})
        for key, by in pairs.items()
    ]


def likeness_table(report: Report) -> Table | None:
    """The rank correlations."""
    lines = []
    for one in likenesses(report):
        named = [Cell(title_of(one.task)), Cell(one.encoder)]
        for code, value in one.by_language.items():
            lines.append([*named, Cell(report.labels.get(code, code)), number_cell(value, ".2f"), Cell("")])
        mean = one.interval
        lines.append([*named, Cell("mean of all"), number_cell(mean.mean, ".2f"), bounds_cell(mean, 1)])
    headers = ["Task", "Encoder", "Language", "Spearman’s ρ", "95% over languages"]
    note = "Over layers N: share of sentences whose translation is found in layer N, against the score with N frozen."
    return Table("Does the best number of frozen layers go with alignment?", headers, lines, note) if lines else None


def sweep_findings(report: Report) -> list[str]:
    """Which number of frozen layers is best, and the correlation, in words."""
    best: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    sources = {code for row in report.rows for code in (row.train_languages or "").split("+")}
    for one in sweeps(report):
        if one.language not in sources:
            best[one.task, one.encoder][one.frozen].append(one.value)
    sentences = []
    for (task, encoder), by in best.items():
        means = {frozen: sum(values) / len(values) for frozen, values in by.items()}
        top = max(means, key=lambda frozen: means[frozen])
        sentences.append(
            f"{title_of(task)}, {encoder}: zero-shot scores are best on average with {_frozen(top)} "
            f"({100 * means[top]:.1f}; {100 * means[min(means)]:.1f} with {_frozen(min(means))})."
        )
    for found in likenesses(report):
        mean = found.interval
        numbers = f"{mean.mean:.2f}" + ("" if mean.low is None else f" [{mean.low:.2f}, {mean.high:.2f}]")
        sentences.append(
            f"{title_of(found.task)}, {found.encoder}: rank correlation with how well the layers align languages "
            f"{numbers.replace('-', '−')}, mean over {mean.n} languages."
        )
    return sentences


def _frozen(count: int) -> str:
    named = {-1: "nothing frozen", 0: "the embeddings frozen", 1: "one layer frozen"}
    return named.get(count, f"{count} layers frozen")


def _heat_map(report: Report, group: list[Swept]) -> Chart:
    factor, unit = scale(group[0].unit)
    start = {one.language: one.value for one in group if one.frozen == min(each.frozen for each in group)}
    table = pd.DataFrame(
        {
            "language": report.labels.get(one.language, one.language),
            "frozen": one.frozen,
            "score": one.value * factor,
            "change": (one.value - start[one.language]) * factor,
        }
        for one in group
    )
    order = [label for label in dict.fromkeys(report.labels.values()) if label in set(table["language"])]
    base = alt.Chart(table).encode(
        x=alt.X("frozen:O", title="First layers frozen (−1: nothing, 0: embeddings)", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("language:N", title=None, sort=order, axis=alt.Axis(labelLimit=240)),
    )
    widest = max(1.0, float(table["change"].abs().max()))
    colours = alt.Scale(scheme="blueorange", domain=[widest, 0, -widest])
    colour = alt.Color("change:Q", title=f"Change ({unit})", scale=colours)
    cells = base.mark_rect().encode(color=colour, tooltip=["language", "frozen", alt.Tooltip("score:Q", format=".2f")])
    text = base.mark_text(fontSize=11).encode(text=alt.Text("score:Q", format=".1f"), color=alt.value("#111"))
    return alt.layer(cells, text).properties(width="container", height=28 * table["language"].nunique())
