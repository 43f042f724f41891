"""Scores with layers frozen, and the report of a study that declares it for many numbers of them."""

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.tuning.schedule import parse_schedule


def score(language: str, frozen: int, value: float, seed: int, task: str = "pos") -> Row:
    return Row(
        "accuracy", value, "share", kind="score", encoder="e", schedule=f"freeze:{frozen}", task=task,
        train_languages="qaa", language=language, split="test", seed=seed,
    )  # fmt: skip


def declared(rows: list[Row]) -> Report:
    """The report of a study that declares to freeze N layers, for many N."""
    schedules = [parse_schedule(f"freeze:{n}") for n in range(-1, 6)]
    return Report("title", "question", rows, schedules={one.name: one for one in schedules})
