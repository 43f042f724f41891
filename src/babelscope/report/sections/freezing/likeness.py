"""Whether the best number of frozen layers goes with how well the layers align languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from babelscope.core.correlation import spearman
from babelscope.core.intervals import Interval, student_t_interval
from babelscope.report.model import Report
from babelscope.report.score import Written, as_written, itself
from babelscope.report.sections.freezing.sweeps import FEWEST, Sweep, sweeps
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.words import capitalised, minus

Aligned = dict[str, dict[int, float]]
"""Parallel data set -> layer -> the share of sentences whose translation is found."""
Where = tuple[str, Written]
"""An encoder, and a language as it is written, which texts and data of tasks may name by two codes."""
RELATED = "languages are taken for the unit, but they are related, so that the interval is narrower than it should be"


class Place(NamedTuple):
    """What a correlation is of."""

    language: str
    label: str
    """The language, with the data sets scored on and retrieved from where there are several."""


class Likeness(NamedTuple):
    """Spearman's rank correlation, over layers N, of how well layer N aligns two languages with the score at N."""

    title: str
    by_place: dict[Place, float]
    unknown: dict[Place, str]
    """Place -> why it has none."""

    @property
    def interval(self) -> Interval | None:
        """Of the mean over languages, each the mean of its places; None: no language has a correlation."""
        by_language: dict[str, list[float]] = defaultdict(list)
        for place, value in self.by_place.items():
            by_language[itself(place.language)].append(value)
        return student_t_interval([fmean(values) for values in by_language.values()]) if by_language else None


def likenesses(report: Report) -> list[Likeness]:
    """For every sweep of an encoder with retrieval by layer: the rank correlation in each language."""
    aligned: dict[Where, Aligned] = defaultdict(lambda: defaultdict(dict))
    for row in report.rows:
        of_sentences = row.measure == "retrieval" and row.kind in ("retrieval", "similarity")
        if of_sentences and row.layer is not None and row.surgery is None and row.seed is None:
            layers = aligned[row.encoder or "", as_written(row.language or "")][row.dataset or ""]
            layers.setdefault(row.layer, row.value)
    swept = [(sweep.title, _pairs(sweep, aligned)) for sweep in sweeps(report)]
    return [_likeness(title, pairs) for title, pairs in swept if pairs]


def _pairs(sweep: Sweep, aligned: Mapping[Where, Aligned]) -> dict[Place, list[tuple[float, float]]]:
    """By place and parallel data set, for every N how well the layer aligns it and how good the score is."""
    pairs: dict[Place, list[tuple[float, float]]] = {}
    for label, scores in sweep.scores.items():
        language = next(iter(scores.values())).language
        parallel = aligned.get((sweep.encoder, as_written(language)), {})
        for dataset, layers in parallel.items():
            place = Place(language, f"{label} · {dataset}" if len(parallel) > 1 else label)
            both = [(layers[n], score.sign * score.interval.mean) for n, score in scores.items() if n in layers]
            if both:
                pairs[place] = both
    return pairs


def likeness_table(report: Report) -> Table | None:
    """The rank correlations."""
    lines = []
    for likeness in likenesses(report):
        named = Cell(likeness.title)
        for place, value in likeness.by_place.items():
            lines.append([named, Cell(place.label), number_cell(value, ".2f"), Cell("")])
        for place, why in likeness.unknown.items():
            lines.append([named, Cell(place.label), Cell(why), Cell("")])
        if mean := likeness.interval:
            lines.append([named, Cell(f"mean of {mean.n}"), number_cell(mean.mean, ".2f"), bounds_cell(mean, 1)])
    headers = ["Sweep", "Language", "Spearman’s ρ", "95% over languages"]
    note = (
        "Over layers N: share of sentences whose translation is found in layer N, against the score with N frozen. "
        f"{capitalised(RELATED)}."
    )
    return Table("Does the best number of frozen layers go with alignment?", headers, lines, note) if lines else None


def _likeness(title: str, pairs: Mapping[Place, Sequence[tuple[float, float]]]) -> Likeness:
    unknown = {place: why for place, each in pairs.items() if (why := _why_unknown(each))}
    known = {place: each for place, each in pairs.items() if place not in unknown}
    correlations = {place: float(spearman(*np.array(each, dtype=np.float64).T)) for place, each in known.items()}
    return Likeness(title, correlations, unknown)


def _why_unknown(pairs: Sequence[tuple[float, float]]) -> str:
    """Why no rank correlation can be computed; empty if one can."""
    if len(pairs) < FEWEST:
        return f"cannot be computed: {len(pairs)} numbers of frozen layers so far"
    for what, values in zip(("retrieval", "score"), zip(*pairs, strict=True), strict=True):
        if len(set(values)) == 1:
            return f"cannot be computed: the {what} is the same at every N"
    return ""


def likeness_in_words(likeness: Likeness) -> str:
    """The mean correlation, and why some have none."""
    start = f"{likeness.title}: rank correlation with how well the layers align languages"
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
