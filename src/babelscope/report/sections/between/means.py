"""Means over tasks and pairs of languages, with what chance leaves open of them.

Seeds are drawn by chance, and so are languages where three or more stand for others. Tasks are these alone, and so are
the pairs that a language is in: their mean is taken within each seed, so that a model that several share counts once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from babelscope.core.inference import Effect, Known
from babelscope.core.row import Row
from babelscope.core.samples import Samples, drawn_of, mean_of, mean_over
from babelscope.report.judged import over_places, table_over_places
from babelscope.report.tables import Cell, bounds_cell, number_cell

Key = TypeVar("Key", bound=Hashable)
BY_CHANCE = (
    "95% intervals are over seeds, and over languages where there are three or more, which are taken for independent"
)
OVER = f"{BY_CHANCE}; they are not over test sentences, of which scores on lines keep nothing."


class Run(NamedTuple):
    """What one number is of."""

    task: str
    models: tuple[str, ...]
    """What they were trained on."""
    language: str
    """The one that may stand for others: scored on, or the target."""
    seed: int | None


Values = Mapping[Run, float]


def run_of(row: Row) -> Run:
    """What a row of several models is of; its language is that of the last model."""
    return Run(row.task or "", row.models, row.models[-1] if row.models else "", row.seed)


def subtracted(first: Values, second: Values) -> Values:
    """The differences where both are known."""
    return {run: value - second[run] for run, value in first.items() if run in second}


def over_pairs(values: Values) -> Effect | None:
    """The mean over tasks, pairs, languages and seeds; None without a seed that all have."""
    return over_places(*_places(values))


def table_over_pairs(values: Values) -> Known | None:
    """[seeds, 1, languages], or without the last axis: means over the pairs of each task, then over tasks."""
    return table_over_places(*_places(values))


def _places(values: Values) -> tuple[dict[str, list[Samples]], int | None]:
    """The means over tasks by language, and how many languages were drawn (`drawn_of`)."""
    tasks = _tasks(values)
    return {language: [mean] for language, mean in mean_over(tasks).items()}, drawn_of(tasks)


def _tasks(values: Values) -> list[dict[str, Samples]]:
    """Of each task the mean over the pairs of each language."""
    by_seed: dict[tuple[str, str, tuple[str, ...]], dict[int | None, float]] = defaultdict(dict)
    for run, value in values.items():
        by_seed[run.task, run.language, run.models][run.seed] = value
    means = _means(((task, language), Samples.of(each, {})) for (task, language, _), each in by_seed.items())
    tasks: dict[str, dict[str, Samples]] = defaultdict(dict)
    for (task, language), mean in means.items():
        tasks[task][language] = mean
    return list(tasks.values())


def _means(samples: Iterable[tuple[Key, Samples]]) -> dict[Key, Samples]:
    """The mean of each key's; empty where those of one have no seed in common."""
    groups: dict[Key, list[Samples]] = defaultdict(list)
    for key, each in samples:
        groups[key].append(each)
    means = {key: mean for key, group in groups.items() if (mean := mean_of(group))}
    return means if len(means) == len(groups) else {}


def mean_cells(known: Effect | None, factor: float, form: str) -> list[Cell]:
    """A mean and its interval, times a factor."""
    if known is None:
        return [Cell(""), Cell("")]
    return [number_cell(factor * known.mean, form), bounds_cell(known.interval, factor)]
