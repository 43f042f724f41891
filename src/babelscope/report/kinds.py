"""Measures of scores, and which rows are scores or stand beside one."""

from __future__ import annotations

from collections.abc import Mapping

from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.core.tasks import TASKS

COMPANIONS = (
    "las", "uas", "las.nopunct", "uas.nopunct", "f1", "precision", "recall", "accuracy", "matthews", "pearson",
    "spearman", "coverage", "unknown", "words", "examples",
)  # fmt: skip
"""Measures shown beside a score of the same run, in this order."""

Main = Mapping[str, str]
"""Task -> what a study scores it by, where it says so (`Report.main`); else it is the first of the task's measures."""
AS_USUAL: Main = {}


def main_measure(row: Row, main: Main = AS_USUAL) -> str:
    """What the row's task is scored by; of a task that is nowhere, the row's own measure."""
    task = row.task or ""
    return main.get(task) or (TASKS[task].measures[0] if task in TASKS else row.measure)


def rises(task: str, main: Main = AS_USUAL) -> bool:
    """Whether more of what the task is scored by is better; so it is taken to be of a task that is nowhere."""
    measure = main.get(task) or (TASKS[task].measures[0] if task in TASKS else "")
    return measure_of(measure).sign > 0


def is_score(row: Row, main: Main = AS_USUAL) -> bool:
    """Whether the row is a run's result on a test split, in its task's main measure: it gets findings and a table."""
    of_test = row.kind == "score" and row.split == "test" and row.language is not None
    return of_test and measure_of(row.measure).main and row.measure == main_measure(row, main)


def is_companion(row: Row, main: Main = AS_USUAL) -> bool:
    """Whether the row stands beside a score: its coverage, its number of words, its score in another measure."""
    return row.kind == "score" and row.split == "test" and row.measure in COMPANIONS and not is_score(row, main)
