"""What a row is: a score, what stands beside one, a gain, a point of a curve, a probe."""

from __future__ import annotations

from typing import Literal, NamedTuple

from babelscope.core.row import Row
from babelscope.core.tasks import TASKS


class ScoredMeasure(NamedTuple):
    """The name of a measure, as within a sentence, and which values of it are better."""

    name: str
    better: Literal["higher", "lower"] = "higher"

    @property
    def title(self) -> str:
        """The name as a heading."""
        return self.name[0].upper() + self.name[1:]

    @property
    def sign(self) -> int:
        """1 where a higher value is better, -1 where a lower one is."""
        return 1 if self.better == "higher" else -1


SCORES = {
    "accuracy": ScoredMeasure("accuracy"),
    "f1": ScoredMeasure("F1"),
    "las": ScoredMeasure("LAS"),
    "matthews": ScoredMeasure("Matthews correlation"),
    "pearson": ScoredMeasure("Pearson correlation"),
    "perplexity": ScoredMeasure("perplexity", "lower"),
}
"""Measures of a test split that get findings, a figure and a table, where they are the main one of their task."""

COMPANIONS = (
    "uas", "las.nopunct", "uas.nopunct", "precision", "recall", "accuracy", "spearman", "coverage", "unknown", "words",
    "examples",
)  # fmt: skip
"""Measures shown beside a score of the same run."""


NORMS = ("norm to first", "norm to second")
TURNS = ("angle", "norm ratio", *NORMS)
"""What is measured of two ways from a model to others."""


def main_measure(row: Row) -> str:
    """What the row's task is scored by; of a task that is not in the table, the row's own measure."""
    return TASKS[row.task].measures[0] if row.task in TASKS else row.measure


def rises(task: str) -> bool:
    """Whether more of what the task is scored by is better."""
    return task not in TASKS or SCORES[TASKS[task].measures[0]].sign > 0


def is_score(row: Row) -> bool:
    """Whether the row is a run's result on a test split."""
    return (
        row.split == "test"
        and row.measure == main_measure(row)
        and row.measure in SCORES
        and row.language is not None
        and row.step is None
        and row.alpha1 is None
    )


def is_gain(row: Row) -> bool:
    """Whether the row is what a comparison found in its task's main measure."""
    return row.claim is not None and row.measure == f"{main_measure(row)} gain"


def is_companion(row: Row) -> bool:
    """Whether the row stands beside a score: its interval over sentences, its coverage, its number of words."""
    base, _, end = row.measure.rpartition(".")
    bound = end in ("low", "high") and base in (*SCORES, *COMPANIONS)
    beside = bound or row.measure in COMPANIONS
    return row.split == "test" and row.step is None and row.alpha1 is None and beside and not is_score(row)


def is_curve(row: Row) -> bool:
    """Whether the row is a point of a learning curve."""
    return row.step is not None and row.measure in (*SCORES, "loss") and row.split in ("train", "dev")


def is_probe(row: Row) -> bool:
    """Whether the row was measured while a model was trained, on data that do not change."""
    return row.split == "probe"


def is_between(row: Row) -> bool:
    """Whether the row is of a model between others, or of the ways to them."""
    return row.alpha1 is not None or row.measure in TURNS
