"""What the top of a report's page says: the answer, what to mind, and the main figure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from babelscope.report.figures import Figure
from babelscope.report.section import Section

SENTENCES, WARNINGS = 4, 4
"""As many are told at most; the sections have them all."""


class First(NamedTuple):
    """The top of a page."""

    answer: Sequence[str]
    number: int | None
    """Of the section that says it."""
    warnings: Sequence[str]
    more_warnings: int
    """Of those that stand with their sections alone."""
    figure: Figure | None


def first_screen(sections: Sequence[Section]) -> First:
    """What the first section that says something has to say: its answer, or its first findings; and its figure."""
    number = next((k for k, part in enumerate(sections) if part.answer or part.findings), None)
    leading = None if number is None else sections[number]
    said = (leading.answer or leading.findings[:2])[:SENTENCES] if leading else []
    warnings = list(dict.fromkeys(chain.from_iterable(part.warnings for part in sections)))
    figures = [*(leading.figures if leading else ()), *chain.from_iterable(part.figures for part in sections)]
    return First(said, number, warnings[:WARNINGS], len(warnings[WARNINGS:]), figures[0] if figures else None)
