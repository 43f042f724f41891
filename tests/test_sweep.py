"""The sweep over frozen layers, as the report shows it."""

import math
from dataclasses import replace

import pytest
from scipy.stats import spearmanr, ttest_rel

from babelscope.core.row import Row
from babelscope.report.figures import Chart
from babelscope.report.model import Report
from babelscope.report.sections.freezing import sweep_findings
from babelscope.report.sections.freezing.dropout import frozen_dropout, paired
from babelscope.report.sections.freezing.figures import sweep_figures
from babelscope.report.sections.freezing.likeness import likeness_table, likenesses
from babelscope.report.sections.freezing.sweeps import frozen_layers, sweeps
from babelscope.tuning.schedule import Schedule, parse_schedule
from frozen_layers import declared, score

RETRIEVED = {"qab": [0.5, 0.9, 0.7, 0.8], "qac": [0.1, 0.2, 0.3, 0.4]}
SCORED = {
    "qaa": [0.99, 0.98, 0.97, 0.96, 0.95],
    "qab": [0.6, 0.7, 0.9, 0.8, 0.5],
    "qac": [0.1, 0.2, 0.3, 0.4, 0.5],
}


def report(columns: int = 5) -> Report:
    rows = [
        score(language, frozen, value + 0.01 * seed, seed)
        for language, values in SCORED.items()
        for frozen, value in enumerate(values[:columns], -1)
        for seed in (0, 1)
    ]
    rows += [
        Row("retrieval", value, "share", kind="retrieval", encoder="e", language=language, layer=layer)
        for language, values in RETRIEVED.items()
        for layer, value in enumerate(values)
    ]
    return declared(rows)


def charts(made: Report) -> dict[str, Chart]:
    return {figure.title: figure.chart for figure in sweep_figures(sweeps(made))}


def means(made: Report) -> list[dict[tuple[str, int], float]]:
    """Of every sweep, by place and number of frozen layers."""
    return [
        {(place, n): one.interval.mean for place, by_number in sweep.scores.items() for n, one in by_number.items()}
        for sweep in sweeps(made)
    ]


def test_a_sweep_is_the_mean_over_seeds() -> None:
    (found,) = means(report())
    assert found.keys() == {(language, frozen) for language in SCORED for frozen in range(-1, 4)}
    assert math.isclose(found["qab", 1], 0.9 + 0.005)


def test_a_sweep_is_what_was_declared_whatever_its_name() -> None:
    made = report()
    named = [replace(row, schedule=f"number {row.schedule}") if row.schedule else row for row in made.rows]
    schedules = {f"number {name}": one.model_copy(update={"name": name}) for name, one in made.schedules.items()}
    assert means(replace(made, rows=named, schedules=schedules)) == means(made) != []
    assert sweeps(replace(made, schedules={})) == []


def test_a_schedule_that_does_more_is_no_sweep() -> None:
    assert [frozen_layers(parse_schedule(text)) for text in ("freeze:-1", "freeze:3")] == [-1, 3]
    others = ("freeze:3,decay=0.9", "freeze:3,lora=2", "upper:half", "gradual:groups=2", "layers:0-2")
    assert [frozen_layers(parse_schedule(text)) for text in others] == [None] * 5
    assert frozen_layers(Schedule(name="three", freeze=3)) == 3


def test_two_schedules_make_no_sweep() -> None:
    assert sweeps(report(columns=2)) == [] and charts(report(columns=2)) == {}
    assert likeness_table(report(columns=2)) is None


def test_the_correlation_is_over_layers() -> None:
    (found,) = likenesses(report())
    expected = {code: spearmanr(values, SCORED[code][1:]).statistic for code, values in RETRIEVED.items()}
    assert {place.label: value for place, value in found.by_place.items()} == pytest.approx(expected) and expected[
        "qac"
    ] == 1
    table = likeness_table(report())
    assert table is not None and [line[1].text for line in table.lines] == ["qab", "qac", "mean of 2"]


def test_findings_name_the_best_number_of_frozen_layers() -> None:
    best, likeness = sweep_findings(report())
    assert "zero-shot accuracy is best on average with one layer frozen (60.5%; 35.5% with nothing frozen)" in best
    assert "mean over 2 languages; languages are taken for the unit, but they are related" in likeness
    table = likeness_table(report())
    assert table is not None and "the interval is narrower than it should be" in table.note


def test_the_lowest_perplexity_is_best() -> None:
    rows = [
        score("qab", frozen, value, 0, "mlm").labelled(measure="perplexity", unit="")
        for frozen, value in enumerate([9.0, 4.0, 7.0], -1)
    ]
    retrieved = [
        Row("retrieval", value, kind="retrieval", encoder="e", language="qab", layer=n)
        for n, value in enumerate([0.2, 0.9, 0.4], -1)
    ]
    best, likeness = sweep_findings(declared([*rows, *retrieved]))
    assert "zero-shot perplexity is best on average with the embeddings frozen (4.0; 9.0 with nothing frozen)" in best
    assert "rank correlation with how well the layers align languages 1.00, mean over 1 language." in likeness


def without(*left_out: tuple[str, int]) -> Report:
    """A sweep that is not finished."""
    rows = [
        row for row in report().rows if (row.language, row.schedule) not in {(a, f"freeze:{n}") for a, n in left_out}
    ]
    return declared(rows)


def test_an_unfinished_sweep_is_shown_as_far_as_it_is() -> None:
    made = without(("qab", -1), ("qac", 2))
    (chart,) = charts(made).values()
    cells = {(one["language"], one["frozen"]): one for data in chart.to_dict()["datasets"].values() for one in data}
    assert len(cells) == 13 and {key for key, one in cells.items() if one["change"] is None} == {
        ("qab", frozen) for frozen in range(4)
    }
    (likeness,) = sweep_findings(made)
    assert "mean over 2 languages" in likeness
    best, _ = sweep_findings(without(("qab", -1)))
    assert "best on average with three layers" not in best
    assert "with 3 layers frozen (50.5%; 10.5% with nothing frozen; over 1 language with every N)" in best


def test_what_cannot_be_correlated_is_said() -> None:
    flat = [replace(row, value=0.5) if row.language == "qac" and row.split == "test" else row for row in report().rows]
    (found,) = likenesses(declared(flat))
    reason = "cannot be computed: the score is the same at every N"
    assert [place.language for place in found.by_place] == ["qab"]
    assert {place.language: why for place, why in found.unknown.items()} == {"qac": reason}
    table = likeness_table(declared(flat))
    assert table is not None and [line[2].text for line in table.lines][1] == reason
    assert f"mean over 1 language (1 more {reason})" in sweep_findings(declared(flat))[1]


def test_without_any_correlation_there_is_no_mean() -> None:
    rows = [replace(row, value=0.5) for row in report().rows]
    table = likeness_table(declared(rows))
    assert table is not None and [line[1].text for line in table.lines] == ["qab", "qac"]
    best, likeness = sweep_findings(declared(rows))
    assert (
        best == "Part-of-speech tagging, e, trained on qaa: zero-shot accuracy is 50.0% on average, whatever is frozen."
    )
    assert likeness.endswith("align languages cannot be computed: the retrieval is the same at every N.")


def test_two_points_make_no_correlation() -> None:
    rows = [row for row in report().rows if row.measure != "retrieval" or row.layer in (1, 2)]
    (found,) = likenesses(declared(rows))
    assert not found.by_place and set(found.unknown.values()) == {
        "cannot be computed: 2 numbers of frozen layers so far"
    }


def test_one_task_trained_on_two_sources_is_two_sweeps() -> None:
    """Of .9 and .5 never .7."""
    rows = [
        score("qab", frozen, value + 0.01 * (frozen == 1) + 0.001 * seed, seed).labelled(train_languages=source)
        for source, value in (("qaa", 0.9), ("qac", 0.5)) for frozen in (-1, 0, 1) for seed in range(3)
    ]  # fmt: skip
    made = declared(rows)
    first, second = sweeps(made)
    assert (first.training, second.training) == ("qaa", "qac") and len(charts(made)) == 2
    assert [round(value, 2) for found in means(made) for value in found.values()] == [0.9, 0.9, 0.91, 0.5, 0.5, 0.51]
    good, bad = sweep_findings(made)
    assert "trained on qaa: zero-shot accuracy is best on average with one layer frozen (91.1%; 90.1%" in good
    assert "trained on qac: zero-shot accuracy is best on average with one layer frozen (51.1%; 50.1%" in bad


def test_the_heat_map_has_a_cell_a_language_and_number() -> None:
    (chart,) = charts(report()).values()
    (data,) = chart.to_dict()["datasets"].values()
    assert len(data) == 15 and {one["language"] for one in data} == set(SCORED)
    assert all(one["change"] == 0 for one in data if one["frozen"] == -1)
    assert '"Change (points)"' in chart.to_json(), "percent differ by points"


# Dropout in the frozen layers.


def with_dropout(report: Report, *also: int) -> Report:
    """The sweep with dropout in the frozen layers (five points more in all); without it for the numbers `also`."""
    kept = [
        replace(row, schedule=f"{row.schedule},frozen_dropout", value=row.value + 0.05)
        for row in report.rows
        if row.schedule and row.schedule != "freeze:-1"
    ]
    alone = [row for row in report.rows if row.schedule in {None, "freeze:-1", *(f"freeze:{n}" for n in also)}]
    schedules = [*report.schedules.values(), *(parse_schedule(f"freeze:{n},frozen_dropout") for n in range(6))]
    return replace(report, rows=[*kept, *alone], schedules={one.name: one for one in schedules})


def test_with_dropout_and_without_are_two_sweeps() -> None:
    both = with_dropout(report(), 0, 1, 2, 3)
    found = {
        (sweep.dropout, score.language, frozen): score.interval.mean
        for sweep in sweeps(both)
        for scores in sweep.scores.values()
        for frozen, score in scores.items()
    }
    assert len(found) == 2 * 3 * 5
    for (dropout, language, frozen), value in found.items():
        same = found[not dropout, language, frozen]
        assert value - same == pytest.approx(0 if frozen == -1 else 0.05 if dropout else -0.05)
    assert len(charts(both)) == 2 and len(likenesses(both)) == 2
    titled = "Part-of-speech tagging with dropout in the frozen layers, e, trained on qaa: zero-shot"
    assert any(titled in sentence for sentence in sweep_findings(both))


def test_one_number_without_dropout_is_no_sweep_but_is_compared() -> None:
    made = with_dropout(report(), 2)
    (sweep,) = sweeps(made)
    assert sweep.dropout and sum(map(len, sweep.scores.values())) == 15
    assert {(one.schedule, other.schedule, one.language) for one, other in paired(made)} == {
        ("freeze:2,frozen_dropout", "freeze:2", language) for language in SCORED
    }
    (section,) = frozen_dropout(made, [])
    (table,) = section.tables
    assert [line[3].text for line in table.lines] == ["freeze:2"] * 3
    assert [line[5].number for line in table.lines] == pytest.approx([5.0] * 3)
    assert not list(frozen_dropout(report(), []))


def test_the_interval_of_dropout_is_over_the_seeds_that_both_have() -> None:
    made = with_dropout(report(), 2)
    rows = [
        replace(row, value=row.value + 0.02) if row.seed and row.schedule == "freeze:2" else row for row in made.rows
    ]
    (two_seeds,) = frozen_dropout(replace(made, rows=rows), [])
    assert {line[9].text for line in two_seeds.tables[0].lines} == {"not enough seeds to say"}
    third = [replace(row, seed=2, value=row.value + 0.3) for row in rows if row.seed == 0]
    (section,) = frozen_dropout(replace(made, rows=[*rows, *third]), [])
    reach = ttest_rel([0.05, 0.03, 0.05], [0, 0, 0]).confidence_interval(0.95)
    for line in section.tables[0].lines:
        assert line[5].number == pytest.approx(100 * 0.13 / 3)
        assert line[7].text == f"[{100 * reach.low:.2f}, {100 * reach.high:.2f}]".replace("-", "−")


def test_retrieval_of_a_similarity_counts_as_well() -> None:
    rows = [replace(row, kind="similarity") if row.measure == "retrieval" else row for row in report().rows]
    assert likenesses(declared(rows)) == likenesses(report())


def test_retrieval_from_two_data_sets_is_correlated_apart_and_the_language_counts_once() -> None:
    retrieved = [row.labelled(dataset="one") for row in report().rows if row.kind == "retrieval"]
    other = [row.labelled(dataset="two", value=1 - row.value) for row in retrieved if row.language == "qac"]
    for rows in ([*retrieved, *other], [*other, *retrieved]):
        made = declared([*(row for row in report().rows if row.kind == "score"), *rows])
        (found,) = likenesses(made)
        first = spearmanr(RETRIEVED["qab"], SCORED["qab"][1:]).statistic
        values = {place.label: value for place, value in found.by_place.items()}
        assert values == pytest.approx({"qab": first, "qac · one": 1, "qac · two": -1})
        mean = found.interval
        assert mean is not None and mean.n == 2 and mean.mean == pytest.approx(first / 2)
