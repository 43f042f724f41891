"""Rows of align-then-predict, made up: scores with layers reinitialised, and languages that are alike."""

from __future__ import annotations

from babelscope.core.row import Row
from babelscope.report.model import Report
from babelscope.report.sections import sections_of
from babelscope.surgery import parse_operation

SEEDS = (0, 1, 2)
LANGUAGES = ("qab", "qac", "qad", "qae", "qaf")
LOST = {None: 0.0, "reinit:layers=0+1": 0.10, "reinit:layers=2+3": 0.02, "reinit:layers=4+5": 0.0}


def score(language: str, surgery: str | None, seed: int, value: float) -> Row:
    return Row(
        "las", value, "share", kind="score", encoder="e", surgery=surgery, task="parsing", train_languages="qaa",
        language=language, dataset=f"world:{language}", split="test", seed=seed,
    )  # fmt: skip


def value_of(language: str, surgery: str | None, seed: int) -> float:
    if language == "qaa":
        return 0.9 - LOST[surgery] / 4 - 0.002 * seed * (1 if surgery else 2)
    return 0.8 - 0.1 * LANGUAGES.index(language) - LOST[surgery] - 0.002 * seed * (1 if surgery else 0)


def scores() -> list[Row]:
    return [
        score(language, surgery, seed, value_of(language, surgery, seed))
        for language in ("qaa", *LANGUAGES) for surgery in LOST for seed in SEEDS
    ]  # fmt: skip


def alike(measure: str = "linear CKA (debiased)", task: str | None = None, falling: float = 0.1) -> list[Row]:
    """The further a language is in the list, the less alike; layer 1 is highest."""
    unit = "share" if "retrieval" in measure else ""
    return [
        Row(measure, (0.5, 0.9, 0.7)[layer] - falling * k + 0.001 * (seed or 0), unit, kind="similarity", encoder="e",
            task=task, train_languages=task and "qaa", language=language, dataset=f"world:qaa-{language}", seed=seed,
            layer=layer)
        for k, language in enumerate(LANGUAGES) for layer in range(3) for seed in (SEEDS if task else (None,))
    ]  # fmt: skip


def report(*rows: Row) -> Report:
    labels = {code: f"{code} label" for code in ("qaa", *LANGUAGES)}
    return declared([*scores(), *rows], labels=labels)


def declared(rows: list[Row], **given: object) -> Report:
    """The report of a study with the operations that rows name."""
    surgeries = {row.surgery: (parse_operation(row.surgery),) for row in rows if row.surgery}
    return Report("title", "question", rows, surgeries=surgeries, **given)


def titles(made: Report) -> list[str]:
    return [section.title for section in sections_of(made)]
