"""What comparisons found of languages that the encoder has never seen, and the verdicts that follow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from babelscope.core.inference import benjamini_hochberg
from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.corpora.sources import ALL
from babelscope.report.judged import Verdict, said
from babelscope.report.kinds import AS_USUAL, Main, main_measure
from babelscope.report.model import Report
from babelscope.report.score import as_written
from babelscope.study.verdicts import ADAPTED, AS_IT_IS, SCRATCH, verdict_of

PUBLISHED = (AS_IT_IS, ADAPTED, SCRATCH)
"""Recipes of Muller et al. (2021)."""


class Case(NamedTuple):
    """A task in a language, in its own or in other letters, with so many labelled sentences of its own."""

    task: str
    language: str
    shots: int
    """0: trained on the source."""


class Gain(NamedTuple):
    """What a comparison found."""

    interval: Interval
    """In the unit of the scores."""
    verdict: Verdict
    """Corrected for the number of comparisons (Benjamini and Hochberg 1995)."""
    keys: Sequence[str] = ()
    """Of the result."""


Gains = dict[Case, dict[str, Gain]]
"""By claim; where several models have a claim of one wording, or one has it on several data sets, these are part of it.
"""


def is_gain(row: Row, main: Main = AS_USUAL) -> bool:
    """Whether the row is what a comparison found in its task's main measure."""
    return row.kind == "comparison" and row.measure == f"{main_measure(row, main)} gain"


def gains(report: Report) -> Gains:
    """All comparisons of the study, in its tasks' main measures."""
    rows = [row for row in report.rows if is_gain(row, report.main)]
    adjusted = benjamini_hochberg({str(k): row.p for k, row in enumerate(rows) if row.p is not None})
    by_claim: dict[tuple[Case, str], dict[tuple[str, str, str], Gain]] = defaultdict(dict)
    for k, row in enumerate(rows):
        model = ", ".join(filter(None, [row.encoder, row.schedule, f"trained on {row.trained_on}"]))
        told = (model, row.dataset or "", row.key or "")
        by_claim[case_of(row), row.claim or ""][told] = _gain(row, adjusted.get(str(k)))
    by_case: Gains = defaultdict(dict)
    for (case, claim), by_model in by_claim.items():
        several = len({dataset for _, dataset, _ in by_model}) > 1
        for (model, dataset, key), gain in by_model.items():
            named = f"{model}, scored on {dataset}" if several else model
            alike = [other for *same, other in by_model if same == [model, dataset]]
            named += f", result {key[:12]}" if len(alike) > 1 else ""  # rows do not say what it is held against
            by_case[case][claim if len(by_model) == 1 else f"{claim} ({named})"] = gain
    return dict(by_case)


def _gain(row: Row, p: float | None) -> Gain:
    interval = Interval(row.value, row.low, row.high, None, 1)
    return Gain(interval, Verdict.UNKNOWN if p is None else said(row.value, p), (row.key,) if row.key else ())


def verdicts(compared: Gains) -> dict[Case, str]:
    """Of every case whose gains over the BiLSTM are there."""
    of_cases = {
        case: verdict_of({claim: gain.verdict.sign for claim, gain in by_claim.items()})
        for case, by_claim in compared.items()
    }
    return {case: verdict for case, verdict in of_cases.items() if verdict}


def case_of(row: Row) -> Case:
    """Which case a gain belongs to."""
    return case_in(row.task or "", row.language or "", (row.train_languages or "").split("+"), row.shots)


def case_in(task: str, language: str, trained_on: Sequence[str], shots: int | None) -> Case:
    """Which case a model belongs to that was trained on these languages.

    `shots` are the examples of all but the first, or of the only one; None: these were not few.
    """
    known = [*map(as_written, trained_on)]
    if as_written(language) not in known:
        return Case(task, language, 0)
    few = len(known) == 1 or known[0] != as_written(language)
    return Case(task, language, (shots or ALL) if few else ALL)


def recipes_of(report: Report) -> list[str]:
    """The published ones, and those besides by which the study serves a language."""
    return list(dict.fromkeys([*PUBLISHED, *report.recipes.values()]))


def sentences_in_words(shots: int) -> str:
    """How many labelled sentences of the language a model was trained on."""
    return "none of its own" if not shots else "all sentences" if shots >= ALL else f"{shots:,} sentences"


def label(report: Report, case: Case) -> str:
    """The name of the language that the report shows."""
    return report.labels.get(case.language, case.language)
