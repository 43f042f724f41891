"""The sweep over frozen layers, as the report shows it."""

import math

from scipy.stats import spearmanr

from babelscope.report.model import Report
from babelscope.report.sweep import likeness_table, likenesses, sweep_charts, sweep_findings, sweeps
from babelscope.rows import Row

RETRIEVED = {"qab": [0.5, 0.9, 0.7, 0.8], "qac": [0.1, 0.2, 0.3, 0.4]}
SCORED = {
    "qaa": [0.99, 0.98, 0.97, 0.96, 0.95],
    "qab": [0.6, 0.7, 0.9, 0.8, 0.5],
    "qac": [0.1, 0.2, 0.3, 0.4, 0.5],
}


def score(language: str, frozen: int, value: float, seed: int, task: str = "pos") -> Row:
    return Row(
        "accuracy", value, "share", encoder="e", schedule=f"freeze:{frozen}", task=task, train_languages="qaa",
        language=language, split="test", seed=seed,
    )  # fmt: skip


def report(columns: int = 5) -> Report:
    rows = [
        score(language, frozen, value + 0.01 * seed, seed)
        for language, values in SCORED.items()
        for frozen, value in enumerate(values[:columns], -1)
        for seed in (0, 1)
    ]
    rows += [
        Row("retrieval", value, "share", encoder="e", language=language, task="retrieval", layer=layer)
        for language, values in RETRIEVED.items()
        for layer, value in enumerate(values)
    ]
    return Report("title", "question", rows)


def test_a_sweep_is_the_mean_over_seeds() -> None:
    found = {(one.language, one.frozen): one.value for one in sweeps(report())}
    assert found.keys() == {(language, frozen) for language in SCORED for frozen in range(-1, 4)}
    assert math.isclose(found["qab", 1], 0.9 + 0.005)


def test_two_schedules_make_no_sweep() -> None:
    assert sweeps(report(columns=2)) == [] and sweep_charts(report(columns=2)) == {}
    assert likeness_table(report(columns=2)) is None


def test_the_correlation_is_over_layers() -> None:
    (found,) = likenesses(report())
    expected = {code: spearmanr(values, SCORED[code][1:]).statistic for code, values in RETRIEVED.items()}
    assert found.by_language == expected and found.by_language["qac"] == 1
    table = likeness_table(report())
    assert table is not None and [line[2].text for line in table.lines] == ["qab", "qac", "mean of all"]


def test_findings_name_the_best_number_of_frozen_layers() -> None:
    best, _ = sweep_findings(report())
    assert "best on average with one layer frozen (60.5; 35.5 with nothing frozen)" in best


def test_the_heat_map_has_a_cell_a_language_and_number() -> None:
    (chart,) = sweep_charts(report()).values()
    (data,) = chart.to_dict()["datasets"].values()
    assert len(data) == 15 and {one["language"] for one in data} == set(SCORED)
    assert all(one["change"] == 0 for one in data if one["frozen"] == -1)
