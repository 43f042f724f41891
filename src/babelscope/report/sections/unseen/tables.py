"""Verdicts with the gains that decide them, all other gains, and the scores by recipe, as tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from babelscope.core.scores import MEASURES
from babelscope.corpora.sources import ALL
from babelscope.report.model import Report
from babelscope.report.score import Score, scale, title_of
from babelscope.report.sections.unseen.gains import (
    PUBLISHED,
    Case,
    Gain,
    Gains,
    case_in,
    label,
    recipes_of,
    verdicts,
)
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.study.verdicts import AS_IT_IS, BILSTM, above

_CHANCE = "On the same sentences; 95% intervals over seeds and sentences, of three seeds or more."


def unseen_tables(report: Report, compared: Gains) -> list[Table]:
    """Verdicts with the gains that decide them; all other gains; the scores by recipe."""
    tasks = dict.fromkeys(case.task for case in compared)
    tables = [_verdict_table(report, compared, task) for task in tasks]
    tables += [_gain_table(report, compared, task) for task in tasks]
    tables += _score_tables(report)
    return [table for table in tables if table.lines]


def _against_bilstm(report: Report, by_claims: Iterable[Mapping[str, Gain]]) -> list[str]:
    """The recipes that are compared with the BiLSTM."""
    claims = {claim for by_claim in by_claims for claim in by_claim}
    return [recipe for recipe in recipes_of(report) if recipe in PUBLISHED or above(recipe, BILSTM) in claims]


def _verdict_table(report: Report, compared: Gains, task: str) -> Table:
    published = {row.language: row.claim or "" for row in report.rows if row.kind == "verdict"}
    decided_cases = {case: decided for case, decided in verdicts(compared).items() if case.task == task}
    recipes, lines = _against_bilstm(report, [compared[case] for case in decided_cases]), []
    for case, decided in decided_cases.items():
        gains_there = [compared[case].get(above(recipe, BILSTM)) for recipe in recipes]
        numbers = [cell for gain in gains_there for cell in _points(gain)]
        known = [Cell(published.get(case.language, ""))] if published else []
        lines.append([*_named(report, case), Cell(decided), *numbers, *known])
    headers = [
        "Language",
        "Labelled",
        "Verdict",
        *(part for recipe in recipes for part in (recipe.capitalize(), "95%")),
    ]
    note = (
        "Gains over the BiLSTM in points. Easy: the encoder as it is beats it; Intermediate: it does so only after "
        "learning to model the language’s text; Hard: not even then; undecided where a gain does not show. "
        f"{_CHANCE}"
    )
    if published:
        headers.append("Published (mBERT)")
        note += " Published: after tuning on all labelled sentences of the language."
    return Table(f"Easy, Intermediate or Hard: {title_of(task)}", headers, lines, note)


def _gain_table(report: Report, compared: Gains, task: str) -> Table:
    """All but those that the verdict table shows."""
    decided, deciding = verdicts(compared), [above(recipe, BILSTM) for recipe in recipes_of(report)]
    lines = [
        [
            *_named(report, case), Cell(claim), *_points(gain),
            Cell(gain.verdict),
        ]
        for case, by_claim in compared.items()
        for claim, gain in by_claim.items()
        if case.task == task and not (case in decided and claim in deciding)
    ]  # fmt: skip
    headers = ["Language", "Labelled", "Gain", "Points", "95%", "Verdict"]
    note = f"{_CHANCE} Verdicts at 5%, corrected for the number of comparisons (Benjamini and Hochberg)."
    return Table(f"What is better than what: {title_of(task)}", headers, lines, note)


def _score_tables(report: Report) -> list[Table]:
    """Means over seeds by case and recipe, where the study makes encoders, one for each of these."""
    cells: dict[Case, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
    for score in report.scores:
        recipe = BILSTM if score.encoder == "bilstm" else report.recipes.get(score.encoder, AS_IT_IS)
        cells[case_in(score.task, score.language, score.sources, score.shots)][recipe].append(score)
    made = any(score.encoder in report.recipes for score in report.scores)
    if not made or any(len(scores) > 1 for by_recipe in cells.values() for scores in by_recipe.values()):
        return []
    columns = (*recipes_of(report), BILSTM)
    lines = [
        [
            Cell(title_of(case.task)), *_named(report, case),
            *(_mean(by_recipe[recipe]) if recipe in by_recipe else Cell("") for recipe in columns),
        ]
        for case, by_recipe in cells.items()
    ]  # fmt: skip
    measures = ", ".join(dict.fromkeys(MEASURES[score.measure].title for score in report.scores))
    note = f"{measures}, mean over seeds. Without sentences of its own, the source’s are what is learned from."
    note += " Means of perplexities are geometric." if any(MEASURES[s.measure].geometric for s in report.scores) else ""
    return [Table("Scores by recipe", ["Task", "Language", "Labelled", *columns], lines, note)]


def _mean(scores: Sequence[Score]) -> Cell:
    number = number_cell(scores[0].interval.mean * scale(scores[0].unit)[0], ".1f")
    return replace(number, keys=scores[0].keys)


def _named(report: Report, case: Case) -> list[Cell]:
    shown = "all" if case.shots >= ALL else f"{case.shots:,}"
    return [Cell(label(report, case)), Cell(shown, case.shots)]


def _points(gain: Gain | None) -> list[Cell]:
    if gain is None:
        return [Cell(""), Cell("")]
    number = number_cell(gain.interval.mean * 100, "+.1f")
    return [replace(number, keys=gain.keys), bounds_cell(gain.interval, 100)]
