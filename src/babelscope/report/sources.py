"""Where the numbers of a page come from: the results that their rows are of, and the steps that led to these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from babelscope.core.row import Row
from babelscope.report.kinds import is_companion, is_score
from babelscope.report.model import Report
from babelscope.report.published import is_published
from babelscope.report.section import Section


def sources(report: Report, sections: Sequence[Section]) -> dict[str, Any]:
    """For the page's script: `steps`, and for each section its `groups` of rows.

    A step is its key, what it is, its seed and the places of its inputs among the steps; a group is what its rows are
    of and the places of their steps. Rows without a key, of published numbers, are in none.
    """
    places: dict[str, int] = {}
    steps: list[list[Any]] = []
    by_section = [_groups(report, section.rows if _has_own(section.rows) else _scored(report)) for section in sections]
    for groups in by_section:
        for rows in groups.values():
            for row in rows:
                _enter(report, row.key or "", row, places, steps)
    told = [
        [[what, list(dict.fromkeys(places[row.key or ""] for row in rows))] for what, rows in groups.items()]
        for groups in by_section
    ]
    return {"command": report.command, "steps": steps, "groups": told}


def _has_own(rows: Sequence[Row]) -> bool:
    """Whether a section shows rows of the study; one that has published rows alone sets these beside scores."""
    return not all(is_published(row) for row in rows)


def _scored(report: Report) -> list[Row]:
    """What sections rest on that show rows of others: scores."""
    return [row for row in report.rows if is_score(row, report.main) or is_companion(row, report.main)]


def _groups(report: Report, rows: Iterable[Row]) -> dict[str, list[Row]]:
    """By condition and place; of each result one row."""
    groups: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.key:
            what = " · ".join(filter(None, [report.condition(row), report.place(row), _data(report, row)]))
            groups.setdefault(what, {}).setdefault(row.key, row)
    return {what: list(by_key.values()) for what, by_key in groups.items()}


def _data(report: Report, row: Row) -> str:
    return row.dataset if row.dataset and row.dataset not in report.place(row) else ""


def _enter(report: Report, key: str, row: Row | None, places: dict[str, int], steps: list[list[Any]]) -> int:
    """The place of a step, after those of its inputs were entered."""
    if key not in places:
        step = report.used.plan.steps.get(key) if report.used else None
        inputs = [_enter(report, needed.key, None, places, steps) for needed in step.inputs] if step else []
        seed = row.seed if row else getattr(step, "seed", None)
        places[key] = len(steps)
        steps.append([key, step.title if step else "", seed, list(dict.fromkeys(inputs))])
    return places[key]
