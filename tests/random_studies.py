"""Rows of random small studies, and the means that slow loops make over those that agree in everything else."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import product
from statistics import fmean
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from babelscope.core.row import Row
from babelscope.core.training import TrainedOn
from babelscope.report.model import Contrasted, Report, Side
from babelscope.report.tables import Table
from babelscope.surgery import parse_operation
from babelscope.tuning.schedule import parse_schedule

TASKS = {"pos": "accuracy", "parsing": "las", "ner": "f1"}
SURGERIES = ("reinit", "reinit:layers=0+1", "reinit:layers=2+3")
SCHEDULES = (None, "freeze:-1", "freeze:0", "freeze:2")
TRAININGS = ("qaa", "qab", "qaa+qab", "qaa:10", "qab:10")
LANGUAGES = ("qaa", "qab", "qac", "qad")
CONTRASTS = [
    Contrasted("better", Side("e"), Side("e", "reinit")), Contrasted("alike", Side("e"), Side("f")),
]  # fmt: skip
SCALE = 100
"""Shares are shown in percent."""


def some(*choices: Any) -> st.SearchStrategy[list[Any]]:
    """One to three of them."""
    return st.lists(st.sampled_from(choices), min_size=1, max_size=3, unique=True)


class Studies:
    """What a random study consists of; `keep` is the share of its rows that are there."""

    def __init__(self, tasks, encoders, surgeries, schedules, trainings, languages, datasets, keep, seed):
        self.models = [
            {"task": task, "encoder": encoder, "surgery": surgery, "schedule": schedule, "train": training, "seed": run}
            for task, encoder, surgery, schedule, training, run in
            product(tasks, encoders, [None, *surgeries], schedules, trainings, range(2))
        ]  # fmt: skip
        self.languages, self.datasets = languages, datasets
        self.draw, self.keep = random.Random(seed), keep

    def rows(self, kind: str, cells: Iterable[dict[str, Any]], share: bool = True) -> list[Row]:
        """A row a model and cell, as far as it is kept."""
        made = []
        for model, cell in product(self.models, cells):
            if self.draw.random() < self.keep:
                columns = {name: value for name, value in model.items() if name != "train"} | cell
                columns = {"measure": TASKS[model["task"]]} | columns | TrainedOn.read(model["train"]).columns
                made.append(Row(value=self.draw.random(), unit="share" if share else "", kind=kind, **columns))
        return made

    def scores(self) -> list[Row]:
        places = product(self.languages, self.datasets)
        return self.rows("score", [{"language": a, "dataset": f"{a} {b}", "split": "test"} for a, b in places])


studies = st.builds(
    Studies, some(*TASKS), some("e", "f"), some(*SURGERIES), some(*SCHEDULES), some(*TRAININGS), some(*LANGUAGES),
    some("one", "two"), st.sampled_from([0.6, 0.9, 1.0]), st.integers(0, 2**32),
)  # fmt: skip
quickly = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def report_of(rows: Sequence[Row]) -> Report:
    surgeries = {name: (parse_operation(name),) for name in SURGERIES}
    schedules = {name: parse_schedule(name) for name in SCHEDULES if name}
    return Report("t", "q", rows, contrasts=CONTRASTS, surgeries=surgeries, schedules=schedules)


def alike(rows: Iterable[Row], *axes: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by everything that says what they are, but for the axes."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        left_out = {"value", "low", "high", "p", *axes}
        groups[tuple(value for name, value in asdict(row).items() if name not in left_out)].append(row)
    return groups


def means(rows: Iterable[Row], *axes: str) -> list[float]:
    return [fmean(row.value for row in group) for group in alike(rows, *axes).values()]


def by_seed_and_place(rows: Iterable[Row]) -> dict[tuple[int | None, str | None, str | None], float]:
    return {(row.seed, row.language, row.dataset): row.value for row in rows}


def paired(first: Iterable[Row], second: Iterable[Row], languages: bool) -> list[float]:
    """The differences of two models at each place both have; the mean over them, by language, if asked for."""
    ours, theirs = by_seed_and_place(first), by_seed_and_place(second)
    seeds: dict[tuple[str | None, str | None], set[int | None]] = defaultdict(set)
    for seed, *place in ours.keys() & theirs.keys():
        seeds[place[0], place[1]].add(seed)
    if not languages:
        return [fmean(ours[s, *place] - theirs[s, *place] for s in shared) for place, shared in seeds.items()]
    both = {place[1:] for place in ours} & {place[1:] for place in theirs}
    shared = set.intersection(*seeds.values()) if seeds else set()
    if both != seeds.keys() or not shared:
        return []
    by_language: dict[str | None, list[float]] = defaultdict(list)
    for place in both:
        by_language[place[0]].append(fmean(ours[s, *place] - theirs[s, *place] for s in shared))
    return [fmean(map(fmean, by_language.values()))]


def numbers(tables: Iterable[Table], *headers: str) -> list[float]:
    """What stands in columns of these names; without names, in columns that begin with a triangle."""
    return [
        line[column].number or 0.0
        for table in tables for line in table.lines for column, header in enumerate(table.headers)
        if (header in headers or (not headers and header.startswith("Δ"))) and line[column].number is not None
    ]  # fmt: skip


def settings_of(rows: Iterable[Row], side: Side) -> dict[tuple[Any, ...], list[Row]]:
    """By task, training and schedule, the rows of a condition."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if (row.encoder, row.surgery) == (side.encoder, side.surgery):
            groups[row.task, row.trained_on, row.schedule].append(row)
    return groups
