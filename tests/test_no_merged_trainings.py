"""No number of a report is a mean over trainings or data sets that differ, but for the axis that it names.

Rows of random small studies have values drawn by chance, so that a number tells which rows it is made of: it must be
one of the means that slow loops make over rows that agree in everything else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from itertools import product
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from babelscope.core.row import Row
from babelscope.report.sections.alignment.alignments import alignments, correlations
from babelscope.report.sections.alignment.tables import aligned_tables
from babelscope.report.sections.between.line_tables import line_table
from babelscope.report.sections.between.lines import Between
from babelscope.report.sections.curves import by_title, ends_table
from babelscope.report.sections.effect_tables import effect_table
from babelscope.report.sections.effects import effects
from babelscope.report.sections.freezing.figures import sweep_figures
from babelscope.report.sections.freezing.likeness import likenesses
from babelscope.report.sections.freezing.sweeps import sweeps
from babelscope.report.sections.layers import layer_table
from babelscope.report.sections.other import other_table
from babelscope.report.sections.redrawn_layers.tables import reinitialised_tables
from babelscope.report.sections.scores.findings import differences
from babelscope.report.sections.scores.tables import difference_table, score_table
from babelscope.report.sections.unseen.gains import gains
from babelscope.report.sections.unseen.tables import unseen_tables
from random_studies import (
    CONTRASTS,
    SCALE,
    SURGERIES,
    TASKS,
    alike,
    means,
    numbers,
    paired,
    quickly,
    report_of,
    settings_of,
    studies,
)


def all_among(found: Iterable[float], expected: Iterable[float], scale: float = 1) -> None:
    """Every number is one of these."""
    ordered = sorted(value * scale for value in expected)
    for number in found:
        place = bisect_left(ordered, number)
        near = ordered[max(0, place - 1) : place + 1]
        assert any(abs(number - value) < 1e-9 for value in near), f"{number} is no mean over the named axis alone"


@quickly
@given(studies)
def test_scores_are_means_over_seeds(study):
    rows = study.scores()
    report = report_of(rows)
    tables = [score_table(scores) for scores in report.by_task]
    found = numbers(tables, "Mean (%)")
    all_among(found, means(rows, "seed"), SCALE)
    assert len(found) == len(alike(rows, "seed"))
    compared = [difference_table(found) for scores in report.by_task if (found := differences(scores))]
    expected = []
    for group in alike(rows, "seed", "surgery").values():
        intact, untrained = ([row for row in group if row.surgery == surgery] for surgery in (None, "reinit"))
        # Two that share no seed stand beside each other as they are, with no more said of them.
        expected += paired(intact, untrained, languages=False) or [
            first - second for first in means(intact, "seed") for second in means(untrained, "seed")
        ]
    all_among(numbers(compared, "Points"), expected, SCALE)


@quickly
@given(studies)
def test_effects_are_means_over_languages_and_seeds(study):
    rows = study.scores()
    found = [line for line in effects(report_of(rows)) if line.setting.task]
    expected = []
    for contrast in CONTRASTS:
        first, second = (settings_of(rows, side) for side in (contrast.first, contrast.second))
        for setting in first.keys() & second.keys():
            expected += paired(first[setting], second[setting], languages=True)
    all_among(numbers([effect_table(found)], "Points"), expected, SCALE)
    assert len({(line.contrast.claim, line.setting) for line in found}) == len(found)


@quickly
@given(studies)
def test_layers_drawn_anew_are_held_against_the_same_training(study):
    rows = study.scores()
    tables = reinitialised_tables(report_of(rows))
    expected = []
    for group in alike(rows, "seed", "language", "dataset", "surgery").values():
        intact = [row for row in group if row.surgery is None]
        sources = set(group[0].train_languages.split("+"))
        foreign = [row for row in intact if row.language not in sources]
        for surgery in SURGERIES[1:]:
            other = [row for row in group if row.surgery == surgery]
            expected += paired(other, intact, languages=False) + paired(other, foreign, languages=True)
    all_among(numbers(tables), expected, SCALE)


@quickly
@given(studies)
def test_a_sweep_is_of_one_training(study):
    rows = study.scores()
    found = sweeps(report_of(rows))
    expected = [value * SCALE for value in means(rows, "seed")]
    for chart in (figure.chart for figure in sweep_figures(found)):
        cells = [cell for data in chart.to_dict()["datasets"].values() for cell in data]
        all_among([cell["score"] for cell in cells], expected)
        intact = alike([row for row in rows if row.surgery is None], "seed", "schedule").values()
        schedules = [list(alike(group, "seed").values()) for group in intact]
        changes = [
            0.0,
            *(SCALE * each for group in schedules for a in group for b in group for each in paired(b, a, False)),
        ]
        all_among([cell["change"] for cell in cells if cell["change"] is not None], changes)
    for sweep in found:
        for score in (score for by_number in sweep.scores.values() for score in by_number.values()):
            assert (score.encoder, score.training, score.task, score.surgery) == (
                sweep.encoder, sweep.training, sweep.task, None,
            )  # fmt: skip


@quickly
@given(studies)
def test_comparisons_stand_each_for_itself_and_none_is_lost(study):
    cells = [
        {"measure": "", "language": a, "dataset": f"{a} {b}", "claim": claim, "split": "test", "surgery": None}
        for a in study.languages for b in study.datasets for claim in ("one", "two")
    ]  # fmt: skip
    models = {tuple(model[name] for name in ("task", "encoder", "schedule", "train")): model for model in study.models}
    study.models = [model | {"seed": None} for model in models.values()]
    rows = [row.labelled(measure=f"{TASKS[row.task]} gain", p=study.draw.random()) for row in
            study.rows("comparison", cells)]  # fmt: skip
    report = report_of(rows)
    found = numbers(unseen_tables(report, gains(report)), "Points")
    assert sorted(found) == sorted(row.value * SCALE for row in rows)


@quickly
@given(studies)
def test_languages_are_alike_in_one_model(study):
    scores = study.scores()
    tuned = [
        row for source in ("qaa", "qab")
        for row in study.rows("similarity", [
            {"measure": measure, "language": code, "dataset": f"{source}-{code}", "layer": layer, "surgery": None}
            for measure in ("linear CKA", "retrieval") for code in study.languages for layer in (0, 1)
        ], share=False)
        if row.train_languages == source
    ]  # fmt: skip
    similar = [group[0] for group in alike(tuned).values()]  # surgeries were taken out: of each one row
    report = report_of([*scores, *similar])
    by_layer: dict[tuple[Any, ...], dict[Any, list[float]]] = {}
    for key, group in alike(similar, "seed", "language", "dataset").items():
        seeds: dict[int | None, dict[str | None, float]] = defaultdict(dict)
        for row in group:
            seeds[row.seed][row.language] = row.value
        languages = {row.language for row in group}
        whole = [fmean(values.values()) for values in seeds.values() if values.keys() == languages]
        by_layer[key] = {"": whole}
    expected = [fmean(values[""]) for values in by_layer.values() if values[""]]
    known = [alignment for alignment in alignments(report) if all(alignment.mean(n) for n in alignment.layers)]
    all_among([fmean(alignment.mean(n).values()) for alignment in known for n in alignment.layers], expected)
    if len(known) == len(alignments(report)):
        tables = aligned_tables(report, correlations(report))
        all_among(numbers(tables[:1], "There", "Lowest layer", "Last layer"), expected)
        all_among(numbers([table for table in tables if table.title == "X-Gap"], "X-Gap"), slow_gaps(scores), SCALE)


def slow_gaps(scores: Iterable[Row]) -> list[float]:
    """The source's mean over its data sets minus the score elsewhere, at the seeds that all of these have."""
    expected = []
    for group in alike([row for row in scores if row.surgery is None], "seed", "language", "dataset").values():
        values: dict[tuple[str | None, str | None], dict[int | None, float]] = defaultdict(dict)
        for row in group:
            values[row.language, row.dataset][row.seed] = row.value
        own = [by_seed for place, by_seed in values.items() if place[0] in group[0].train_languages.split("+")]
        for place, by_seed in values.items():
            shared = set(by_seed).intersection(*own) if own else set()
            if shared and place[0] not in group[0].train_languages.split("+"):
                expected.append(fmean(fmean(each[seed] for each in own) - by_seed[seed] for seed in shared))
    return expected


@quickly
@given(studies)
def test_curves_are_means_over_runs_of_one_training_on_one_data_set(study):
    cells = [{"dataset": f"{a} {b}", "split": "dev", "step": step}
             for a in study.languages for b in study.datasets for step in (10, 20)]  # fmt: skip
    study.keep = 1.0
    rows = study.rows("curve", cells)
    report = report_of(rows)
    groups = by_title(report, rows)
    table = ends_table(report, groups)
    all_among(numbers([table], "At the first step", "At the last"), means(rows, "seed"), SCALE)
    assert sum(map(len, groups.values())) == len(rows)
    assert len(numbers([table], "At the last")) == len(alike(rows, "seed", "step"))


@quickly
@given(studies, st.booleans())
def test_what_no_section_knows_is_a_mean_over_seeds(study, by_layer):
    layers = [{"layer": 1}, {"layer": 2}] if by_layer else [{}]
    places = product(study.languages, study.datasets, ("dev", "test"), ("one", "two"), layers)
    cells = [{"measure": "depth", "language": a, "dataset": f"{a} {b}", "split": split, "part": part} | layer
             for a, b, split, part, layer in places]  # fmt: skip
    kinds = ["depth", "width"] if study.draw.random() < 0.5 else ["depth"]
    rows = [row for kind in kinds for row in study.rows(kind, study.draw.sample(cells, min(4, len(cells))))]
    report = report_of(rows)
    table = layer_table(report, rows) if by_layer else other_table(report, rows)
    found = numbers([table], "1", "2") if by_layer else numbers([table], "Mean")
    all_among(found, means(rows, "seed"), SCALE if by_layer else 1)
    assert len(found) == len(alike(rows, "seed")) or "The first" in table.note


@quickly
@given(studies)
def test_scores_between_models_are_means_over_seeds_of_one_data_set(study):
    study.models = [model for model in study.models if model["train"] == study.models[0]["train"]][:8]
    cells = [
        {"language": a, "dataset": f"{a} {b}", "split": split, "path": f"qaa > {end}", "alpha1": alpha}
        for a in study.languages for b in study.datasets for split in ("dev", "test")
        for end in ("random", "qaa+qab") for alpha in (0.0, 0.5, 1.0)
    ]  # fmt: skip
    rows = study.rows("interpolation", cells)
    report = report_of(rows)
    table = line_table(report, Between.of(report))
    all_among(numbers([table], "α = 0", "α = 0.5", "α = 1"), means(rows, "seed"), SCALE)
    assert len(table.lines) == len(alike(rows, "seed", "alpha1"))


@quickly
@given(studies)
def test_layers_that_align_are_held_against_one_training_and_one_data_set_of_each(study):
    numbered = {"freeze:-1": -1, "freeze:0": 0, "freeze:2": 2}
    intact = [model for model in study.models if model["surgery"] is None]
    study.models = [
        model | {"schedule": name}
        for model in intact
        if model["schedule"] == intact[0]["schedule"]
        for name in numbered
    ]
    scores = study.scores()
    retrieved = [
        Row("retrieval", study.draw.random(), kind="retrieval", encoder=encoder, language=code, dataset=name, layer=n)
        for encoder in ("e", "f") for code in study.languages for name in ("one", "two") for n in numbered.values()
    ]  # fmt: skip
    expected = []
    for group, name in product(alike(scores, "seed", "schedule").values(), ("one", "two")):
        kind = (group[0].encoder, group[0].language, name)
        there = {row.layer: row.value for row in retrieved if (row.encoder, row.language, row.dataset) == kind}
        by_number = {n: [row.value for row in group if row.schedule == schedule] for schedule, n in numbered.items()}
        if all(by_number.values()):
            expected.append(spearmanr([there[n] for n in by_number], list(map(fmean, by_number.values()))).statistic)
    found = [value for each in likenesses(report_of([*scores, *retrieved])) for value in each.by_place.values()]
    assert sorted(found) == pytest.approx(sorted(expected))
