"""The effects that a study looks for, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from babelscope.core import mixed
from babelscope.report.judged import chance, p_of
from babelscope.report.sections.effect_line import Line
from babelscope.report.shown import RATIOS
from babelscope.report.tables import Cell, Table, chance_cell, number_cell

UNTRAINED = "Untrained: with all weights reinitialised before it was tuned."


def effect_table(listed: Sequence[Line]) -> Table:
    """The effects that the study looks for, each over all tasks first."""
    lines = []
    for line in listed:
        known = line.effect
        lines.append(
            [
                Cell(line.between),
                Cell(line.scope),
                *line.shown.cells(line.size),
                chance_cell(p_of(known, line.margin)),
                number_cell(known.seeds if known else None, "d"),
                Cell(line.verdict),
                Cell(line.contrast.claim),
            ]
        )
    headers = ["Difference of", "Task", _size_header(listed), "95% interval", "p", "Seeds", "Verdict", "Claim"]
    note = (
        f"Paired by the seeds that both ran; intervals and p over {chance([line.effect for line in listed])}. Verdicts "
        "at 5%: over all tasks corrected for the number of claims (Holm), on single tasks for the number of lines "
        "(Benjamini and Hochberg). Where the claim is that two are as good as each other, p is that of a difference as "
        "large as the margin (two one-sided tests)."
    )
    if any(not line.setting.task for line in listed):
        note += (
            " A mean over tasks is of shares and correlations, where a task with several trainings counts once. Three "
            "languages of a task or more stand for others; one or two are these alone."
        )
    if any("untrained" in side for line in listed for side in line.sides):
        note += f" {UNTRAINED}"
    note += f" {RATIOS}" if any(line.shown.as_ratio for line in listed) else ""
    return Table("Every effect on every task", headers, lines, note)


def language_table(listed: Sequence[Line], labels: Mapping[str, str]) -> Table:
    """The claims again, language by language where there are several: where a difference lies.

    Claims of the same two conditions, one with a margin and one without, say, have the same lines, and have them once.
    """
    lines: dict[tuple[str, str, str], list[Cell]] = {}
    for line in (line for line in listed if line.is_claim):
        each = line.compared.effects
        for language, known in each.items() if len(each) > 1 else ():
            cells = [Cell(line.between), Cell(line.where), Cell(labels.get(language, language))]
            size = line.shown.cells(line.shown.of_better(known.interval))
            lines.setdefault((line.between, line.where, language), [*cells, *size, number_cell(known.seeds, "d")])
    headers = ["Difference of", "Task", "Language", _size_header(listed), "95% interval", "Seeds"]
    note = (
        "Where each claim lies; intervals are of a language by itself, and nothing is claimed of single ones. That of "
        "a mean over languages can be narrower than all of theirs, where a seed that is better in one is worse in "
        "another."
    )
    if any(line.is_claim and not line.setting.task for line in listed):
        note += " In each language, a mean over tasks is over the tasks scored in it."
    return Table("Every claim in every language", headers, list(lines.values()), note)


def mixed_table(listed: Sequence[Line]) -> Table:
    """Effects over many seeds and languages by a mixed model, as far as statsmodels is there."""
    lines = []
    for line in listed if mixed.is_there() else ():
        if fitted := mixed.fit(line.compared.by_language_and_seed):
            spreads = map(line.shown.spread, (fitted.language_sd, fitted.seed_sd))
            size = line.shown.cells(line.shown.of_better(fitted.interval))
            lines.append([Cell(line.between), Cell(line.scope), *size, chance_cell(fitted.p), *spreads])
    spreads_of = ["SD over languages", "SD over seeds"]
    headers = ["Difference of", "Task", _size_header(listed), "95% interval", "p", *spreads_of]
    note = (
        "Score on condition with languages and seeds as crossed random effects, of five languages and five seeds or "
        "more; sentences are not in it. The verdicts above do not rest on it."
    )
    return Table("The same by a mixed model", headers, lines, note)


def _size_header(listed: Sequence[Line]) -> str:
    return "Ratio" if all(line.shown.as_ratio for line in listed) else "Points"
