"""Languages that the encoder has never seen: what each recipe gains, how sure that is, and the verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import altair as alt
import pandas as pd

from babelscope.core.inference import benjamini_hochberg
from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.corpora.letters import split_name
from babelscope.corpora.sources import ALL
from babelscope.report.figures import PALETTE, Chart, Figure, within
from babelscope.report.judged import Verdict, said
from babelscope.report.kinds import AS_USUAL, SCORES, Main, main_measure
from babelscope.report.model import Report, Score, scale, title_of
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table, bounds_cell, number_cell
from babelscope.report.words import in_points
from babelscope.study.verdicts import (
    ADAPTED,
    AS_IT_IS,
    BILSTM,
    SCRATCH,
    above,
    against_chance,
    by_letters,
    verdict_of,
)

PUBLISHED = (AS_IT_IS, ADAPTED, SCRATCH)
"""Recipes of Muller et al. (2021)."""
_CHANCE = "On the same sentences; 95% intervals over seeds and sentences, of three seeds or more."


_OF_LETTERS = (by_letters(AS_IT_IS), by_letters(AS_IT_IS, permuted=True), against_chance(AS_IT_IS))
"""Claims about other letters."""


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


Gains = dict[Case, dict[str, Gain]]
"""By claim; where several models have a claim of one wording, or one has it on several data sets, these are part of it.
"""


def _recipes(report: Report) -> list[str]:
    """The published ones, and those besides by which the study serves a language."""
    return list(dict.fromkeys([*PUBLISHED, *report.recipes.values()]))


def _against_bilstm(report: Report, by_claims: Iterable[Mapping[str, Gain]]) -> list[str]:
    """The recipes that are compared with the BiLSTM."""
    claims = {claim for by_claim in by_claims for claim in by_claim}
    return [recipe for recipe in _recipes(report) if recipe in PUBLISHED or above(recipe, BILSTM) in claims]


def is_gain(row: Row, main: Main = AS_USUAL) -> bool:
    """Whether the row is what a comparison found in its task's main measure."""
    return row.kind == "comparison" and row.measure == f"{main_measure(row, main)} gain"


@section(claims=is_gain, order=20)
def comparisons(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """Gains sentence by sentence, and the verdicts that they make."""
    if compared := gains(report):
        parts = unseen_findings(report, compared), unseen_figures(report, compared), unseen_tables(report, compared)
        yield Section("Models against each other, sentence by sentence", *parts)


def gains(report: Report) -> Gains:
    """All comparisons of the study, in its tasks' main measures."""
    rows = [row for row in report.rows if is_gain(row, report.main)]
    adjusted = benjamini_hochberg({str(k): row.p for k, row in enumerate(rows) if row.p is not None})
    by_claim: dict[tuple[Case, str], dict[tuple[str, str], Gain]] = defaultdict(dict)
    for k, row in enumerate(rows):
        model = ", ".join(filter(None, [row.encoder, row.schedule, f"trained on {row.trained_on}"]))
        by_claim[case_of(row), row.claim or ""][model, row.dataset or ""] = _gain(row, adjusted.get(str(k)))
    by_case: Gains = defaultdict(dict)
    for (case, claim), by_model in by_claim.items():
        several = len({dataset for _, dataset in by_model}) > 1
        for (model, dataset), gain in by_model.items():
            named = f"{model}, scored on {dataset}" if several else model
            by_case[case][claim if len(by_model) == 1 else f"{claim} ({named})"] = gain
    return dict(by_case)


def _gain(row: Row, p: float | None) -> Gain:
    interval = Interval(row.value, row.low, row.high, None, 1)
    return Gain(interval, Verdict.UNKNOWN if p is None else said(row.value, p))


def verdicts(compared: Gains) -> dict[Case, str]:
    """Of every case whose gains over the BiLSTM are there."""
    of_cases = {
        case: verdict_of({claim: gain.verdict.sign for claim, gain in by_claim.items()})
        for case, by_claim in compared.items()
    }
    return {case: verdict for case, verdict in of_cases.items() if verdict}


def unseen_findings(report: Report, compared: Gains) -> list[str]:
    """The verdicts, and what other letters give, in words."""
    return [*_verdicts_in_words(report, compared), *_letters_in_words(report, compared)]


def unseen_figures(report: Report, compared: Gains) -> list[Figure]:
    """Gains over the BiLSTM, a chart a task and number of labelled sentences."""
    groups: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for case in verdicts(compared):
        groups[case.task, case.shots].append(case)
    caption = (
        "Gain over the BiLSTM on the same labelled sentences, 95% interval over sentences and seeds, of three seeds or "
        "more. What is adapted, or made from scratch, is made once."
    )
    return [
        Figure(f"Against a BiLSTM: {about['task']}, {_sentences(shots)}", caption, chart, about=about)
        for (task, shots), cases in groups.items()
        for about, chart in [({"task": title_of(task)}, _chart(report, compared, cases))]
    ]


def unseen_tables(report: Report, compared: Gains) -> list[Table]:
    """Verdicts with the gains that decide them; all other gains; the scores by recipe."""
    tasks = dict.fromkeys(case.task for case in compared)
    tables = [_verdict_table(report, compared, task) for task in tasks]
    tables += [_gain_table(report, compared, task) for task in tasks]
    tables += _score_tables(report)
    return [table for table in tables if table.lines]


def case_of(row: Row) -> Case:
    """Which case a score or a gain belongs to."""
    own = row.train_languages == row.language
    return Case(row.task or "", row.language or "", (row.shots or ALL) if own else 0)


def _sentences(shots: int) -> str:
    return "none of its own" if not shots else "all sentences" if shots >= ALL else f"{shots:,} sentences"


_GAINS = {Verdict.SHOWS: "gains", Verdict.REVERSED: "loses", Verdict.UNSEEN: "changes nothing that shows:"}


def _label(report: Report, case: Case) -> str:
    return report.labels.get(case.language, case.language)


def _verdicts_in_words(report: Report, compared: Gains) -> list[str]:
    groups: dict[tuple[str, int], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for case, decided in verdicts(compared).items():
        groups[case.task, case.shots][decided].append(_label(report, case))
    return [
        f"{title_of(task)}, {_sentences(shots)}: {decided}: {'; '.join(named)}."
        for (task, shots), by_verdict in groups.items()
        for decided, named in sorted(by_verdict.items())
    ]


def _letters_in_words(report: Report, compared: Gains) -> list[str]:
    """Of the encoder as it is, where it gains most clearly: without labelled sentences, or with the fewest."""
    lines = []
    fewest: dict[tuple[str, str], Case] = {}
    for case in sorted(compared, key=lambda case: case.shots):
        if split_name(case.language)[1]:
            fewest.setdefault((case.task, case.language), case)
    for case in fewest.values():
        for claim, gain in compared[case].items():
            if claim in _OF_LETTERS:
                kind = claim.removesuffix(f", {AS_IT_IS}")
                shown = _GAINS.get(gain.verdict, f"{gain.verdict}:")
                points = in_points(gain.interval.negative if gain.verdict.sign == -1 else gain.interval)
                where = f"{title_of(case.task)}, {_label(report, case)}, {_sentences(case.shots)}"
                lines.append(f"{where}: {kind} {shown} {points}.")
    return lines


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
    headers += ["Published (mBERT)"] if published else []
    return Table(f"Easy, Intermediate or Hard: {title_of(task)}", headers, lines, note)


def _gain_table(report: Report, compared: Gains, task: str) -> Table:
    """All but those that the verdict table shows."""
    decided, deciding = verdicts(compared), [above(recipe, BILSTM) for recipe in _recipes(report)]
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
        own = list(score.sources) == [score.language]
        case = Case(score.task, score.language, (score.shots or ALL) if own else 0)
        recipe = BILSTM if score.encoder == "bilstm" else report.recipes.get(score.encoder, AS_IT_IS)
        cells[case][recipe].append(score)
    made = any(score.encoder in report.recipes for score in report.scores)
    if not made or any(len(scores) > 1 for by_recipe in cells.values() for scores in by_recipe.values()):
        return []
    columns = (*_recipes(report), BILSTM)
    lines = [
        [
            Cell(title_of(case.task)), *_named(report, case),
            *(_mean(by_recipe[recipe]) if recipe in by_recipe else Cell("") for recipe in columns),
        ]
        for case, by_recipe in cells.items()
    ]  # fmt: skip
    measures = ", ".join(dict.fromkeys(SCORES[score.measure].title for score in report.scores))
    note = f"{measures}, mean over seeds. Without sentences of its own, the source’s are what is learned from."
    note += " Means of perplexities are geometric." if any(SCORES[s.measure].geometric for s in report.scores) else ""
    return [Table("Scores by recipe", ["Task", "Language", "Labelled", *columns], lines, note)]


def _mean(scores: Sequence[Score]) -> Cell:
    return number_cell(scores[0].interval.mean * scale(scores[0].unit)[0], ".1f")


def _named(report: Report, case: Case) -> list[Cell]:
    shown = "all" if case.shots >= ALL else f"{case.shots:,}"
    return [Cell(_label(report, case)), Cell(shown, case.shots)]


def _points(gain: Gain | None) -> list[Cell]:
    interval = gain.interval if gain else None
    return [number_cell(interval.mean * 100 if interval else None, "+.1f"), bounds_cell(interval, 100)]


def _chart(report: Report, compared: Gains, cases: Sequence[Case]) -> Chart:
    table = pd.DataFrame(_records(report, compared, cases))
    order, recipes = list(dict.fromkeys(table["language"])), list(dict.fromkeys(table["recipe"]))
    colours = alt.Scale(domain=recipes, range=PALETTE[: len(recipes)])
    colour = alt.Color("recipe:N", title=None, sort=recipes, scale=colours)
    base = alt.Chart(table).encode(
        y=alt.Y("language:N", title=None, sort=order, axis=alt.Axis(labelLimit=340, tickBand="extent", grid=True)),
        yOffset=alt.YOffset("recipe:N", sort=recipes),
        color=colour,
        tooltip=["language", "recipe", *(alt.Tooltip(f"{name}:Q", format="+.1f") for name in ("gain", "low", "high"))],
    )
    limits = within("share", [0.0, *table[["gain", "low", "high"]].to_numpy(dtype=float).ravel()], differences=True)
    bars = base.mark_rule(strokeWidth=1.5, clip=True).encode(x=alt.X("low:Q", scale=limits), x2="high:Q")
    gain = alt.X("gain:Q", title="Gain over the BiLSTM (points)", scale=limits)
    points = base.mark_point(filled=True, size=55).encode(x=gain)
    zero = alt.Chart(pd.DataFrame({"gain": [0]})).mark_rule(strokeDash=[3, 3], opacity=0.6).encode(x="gain:Q")
    layers = [zero, bars, points] if table["low"].notna().any() else [zero, points]
    return alt.layer(*layers).properties(width="container", height=max(80, 46 * len(order)))


def _records(report: Report, compared: Gains, cases: Sequence[Case]) -> Iterable[dict[str, object]]:
    for case in cases:
        for recipe in _recipes(report):
            if gain := compared[case].get(above(recipe, BILSTM)):
                interval = gain.interval
                ends = {"low": interval.low, "high": interval.high}
                yield {"language": _label(report, case), "recipe": recipe, "gain": 100 * interval.mean} | {
                    name: None if end is None else 100 * end for name, end in ends.items()
                }
