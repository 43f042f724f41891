"""What the report makes of probes."""

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.intervals import geometric_interval, student_t_interval
from babelscope.core.row import Row
from babelscope.report import markdown, write_report
from babelscope.report.figures import PALETTE, look_of
from babelscope.report.model import Report
from babelscope.report.sections import sections_of
from babelscope.report.sections.probes.figures import probe_figures
from babelscope.report.sections.probes.probed import (
    best_within,
    compromises,
    crossings,
    pareto_front,
    perplexities,
    told_apart,
)
from babelscope.report.sections.probes.tables import probe_findings, probe_tables
from babelscope.studies.published_numbers import published_rows

NEVER = {0: 20.0, 10: 15.0, 20: 12.0}
"""Perplexities of a target that stay above those of the control."""
FORGOTTEN = {0: 10.0, 10: 10.5, 20: 11.0}


def curve(corpus: str, seed: int, values: dict[int, float], encoder: str = "e", **labels: str) -> list[Row]:
    shared = {"kind": "probe", "encoder": encoder, "dataset": corpus, "split": "probe", "seed": seed} | labels
    return [Row("perplexity", value, step=step, **shared) for step, value in values.items()]


def both(
    seed: int, target: dict[int, float], control: dict[int, float], encoder: str = "e", **labels: str
) -> list[Row]:
    return [*curve("target", seed, target, encoder, **labels), *curve("control", seed, control, encoder, **labels)]


def report(*rows: list[Row]) -> Report:
    return Report("title", "question", [row for part in rows for row in part])


def records(chart) -> list[dict]:
    """All data of a chart."""
    return [record for values in chart.to_dict()["datasets"].values() for record in values]


def figures(made: Report) -> dict:
    return {figure.title: figure for figure in probe_figures(made)}


def texts(table) -> list[list[str]]:
    return [[cell.text for cell in line] for line in table.lines]


def test_curves_cross_where_the_lines_between_probes_do() -> None:
    made = report(
        both(0, {0: 20, 10: 10, 20: 5}, {0: 10, 10: 12, 20: 14}),
        both(1, {0: 20, 10: 15, 20: 10}, {0: 10, 10: 10, 20: 12}),
        both(2, {0: 9, 10: 8, 20: 7}, {0: 10, 10: 10, 20: 10}),
    )
    found = crossings(made)
    assert [(one.crossed, one.seeds) for one in found] == [(2, 3)]
    first, second = 10 * 10 / 12, 10 + 10 * 5 / 7
    assert found[0].interval is not None and math.isclose(found[0].interval.mean, (first + second) / 2)
    (sentence,) = probe_findings(made)
    assert "in 2 of 3 seeds; in the others the curves do not end crossed, and they do not count" in sentence


def test_curves_that_cross_back_do_not_cross() -> None:
    """The target was said to fall below the control's at step 5, though it ended above it."""
    back = report(*(both(seed, {0: 20, 10: 10, 20: 20}, {0: 15, 10: 15, 20: 15}) for seed in range(3)))
    assert [one.crossed for one in crossings(back)] == [0]
    again = report(
        *(both(seed, {0: 20, 10: 10, 20: 20, 30: 10}, dict.fromkeys((0, 10, 20, 30), 15)) for seed in range(3))
    )
    (found,) = crossings(again)
    assert found.crossed == 3 and found.interval is not None and math.isclose(found.interval.mean, 5)


def test_what_never_crosses_is_one_sentence() -> None:
    made = report(*(both(0, NEVER, FORGOTTEN, name) for name in "abc"), both(0, {0: 20, 10: 5}, {0: 10, 10: 10}, "d"))
    assert probe_findings(made) == [
        "d: the target's perplexity falls below the control's at step 7 (one seed).",
        "In no seed do the curves of target and control end crossed with: a; b; c.",
    ]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12))
def test_no_compromise_beats_the_front(values: list[tuple[int, int]]) -> None:
    start = {0: 5.0}
    target = start | {step: float(one) for step, (one, _) in enumerate(values, 1)}
    control = start | {step: float(one) for step, (_, one) in enumerate(values, 1)}
    (found,) = compromises(report(both(0, target, control))).values()
    for one in pareto_front(found):
        assert not any(
            (other.target <= one.target and other.loss < one.loss)
            or (other.target < one.target and other.loss <= one.loss)
            for other in found
        )
    for loss in (-0.5, 0.0, 0.5):
        useful = [one.target for one in found if one.loss <= loss and (loss < 0 or one.target < 5)]
        best = best_within(found, loss)
        assert (best.target if best else None) == min(useful, default=None)
        assert best is None or best.step > 0


def test_compromises_are_geometric_means_over_seeds() -> None:
    (found,) = compromises(report(both(0, {0: 4, 9: 2}, {0: 1, 9: 1}), both(1, {0: 9, 9: 8}, {0: 4, 9: 9}))).values()
    assert [(one.step, one.seeds) for one in found] == [(0, 2), (9, 2)]
    assert [one.target for one in found] == pytest.approx([6, 4])
    assert [one.loss for one in found] == pytest.approx([0, 0.5])


def test_a_step_is_compared_with_those_of_its_own_encoder_and_task() -> None:
    made = report(
        both(0, {0: 20, 10: 10}, {0: 10, 10: 11}, "large", task="mlm"),
        both(0, {0: 90, 10: 70}, {0: 10, 10: 11}, "small", task="mlm"),
        both(0, {0: 60, 10: 50}, {0: 10, 10: 11}, "small", task="mlm", surgery="reinit"),
        both(0, {0: 80, 10: 40}, {0: 10, 10: 11}, "small", task="pos"),
    )
    found = {name: {one.target for one in each} for name, each in compromises(made).items()}
    assert {name: {round(value) for value in values} for name, values in found.items()} == {
        "Masked language modelling, large": {20, 10},
        "Masked language modelling, small": {90, 70},
        "Masked language modelling, small, untrained": {60, 50},
        "Part-of-speech tagging, small": {80, 40},
    }
    tables = [table for table in probe_tables(made) if table.title.startswith("The best compromise")]
    assert [texts(table)[-1][3] for table in tables] == ["10.00", "70.00", "50.00", "40.00"]


def test_one_encoder_learning_two_languages_makes_two_compromises() -> None:
    made = report(
        both(0, {0: 20, 10: 10}, {0: 10, 10: 11}, task="mlm", language="de", train_languages="de"),
        both(0, {0: 90, 10: 70}, {0: 10, 10: 11}, task="mlm", language="fr", train_languages="fr"),
    )
    assert list(compromises(made)) == ["de and de", "fr and fr"]


def test_published_curves_stand_beside_ours_but_neither_cross_nor_are_compromises() -> None:
    published = published_rows("evolution@world")
    both_kinds = report(published, both(0, {0: 20, 10: 10}, {0: 10, 10: 12}))
    (end, *_) = probe_tables(both_kinds)
    assert sum(line[0].startswith("published: mBERT") for line in texts(end)) == 5
    assert [found.name for found in crossings(both_kinds)] == ["e"]
    (ours,) = compromises(both_kinds).values()
    assert {one.condition for one in ours} == {"e"}


def test_without_common_seeds_nothing_is_compared() -> None:
    made = report(curve("target", 0, NEVER), curve("control", 1, FORGOTTEN), both(5, NEVER, FORGOTTEN, "other"))
    assert [one.name for one in crossings(made)] == ["other"]
    (found,) = compromises(made).values()
    assert {one.condition for one in found} == {"other"}
    apart = report(both(0, NEVER, FORGOTTEN, schedule="freeze:0"), both(1, NEVER, FORGOTTEN, schedule="freeze:1"))
    (found,) = compromises(apart).values()
    assert {(one.condition, one.seeds) for one in found} == {("e, schedule freeze:0", 1), ("e, schedule freeze:1", 1)}


def test_tasks_keep_their_own_curves() -> None:
    made = report(
        both(0, {0: 20, 10: 10}, {0: 10, 10: 12}, task="mlm"),
        both(0, {0: 30, 10: 25}, {0: 10, 10: 11}, task="pos"),
        curve("target", 0, {0: 7}, "native", key="one", language="de"),
        curve("target", 0, {0: 8}, "native", key="two", language="fr"),
    )
    end, crossing, *_ = probe_tables(made)
    assert [line[:2] for line in texts(end)] == [
        ["e, Masked language modelling", "10.00"],
        ["e, Part-of-speech tagging", "25.00"],
        ["native, de", "7.00"],
        ["native, fr", "8.00"],
    ]
    assert [line[-1] for line in texts(crossing)] == ["1 of 1", "0 of 1"]
    shown = figures(made)
    for name, first in (("Masked language modelling", 20), ("Part-of-speech tagging", 30)):
        drawn = records(shown[f"Perplexity while one language is learned: {name}"].chart)
        assert [one["mean"] for one in drawn if (one["line"], one["step"]) == ("target", 0)] == [first]


def test_schedules_without_test_scores_keep_their_own_curves() -> None:
    made = report(
        both(0, NEVER, FORGOTTEN, schedule="freeze:0"), both(0, {0: 20, 10: 5}, {0: 9, 10: 9}, schedule="all")
    )
    assert [one.name for one in perplexities(made)] == ["e, schedule freeze:0", "e, schedule all"]
    rows = [
        Row("loss", 1.0, kind="curve", encoder="e", task="pos", split="train", step=1, seed=0, schedule=name)
        for name in ("a", "b")
    ]
    (section,) = sections_of(Report("title", "", rows))
    assert {one["condition"] for one in records(section.figures[0].chart)} == {"e, schedule a", "e, schedule b"}


def test_layers_are_drawn_by_task_and_corpus() -> None:
    tasks, corpora = ("mlm", "pos"), ("target", "control")
    rows = [
        Row("CKA with start", value, kind="probe", encoder="e", seed=0, step=3, layer=2, task=task, dataset=corpus)
        for value, (task, corpus) in enumerate(itertools.product(tasks, corpora))
    ]
    shown = figures(report(rows))
    assert {title: [one["value"] for one in records(figure.chart)] for title, figure in shown.items()} == {
        "CKA with start, by layer: Masked language modelling, target": [0],
        "CKA with start, by layer: Masked language modelling, control": [1],
        "CKA with start, by layer: Part-of-speech tagging, target": [2],
        "CKA with start, by layer: Part-of-speech tagging, control": [3],
    }
    assert "band" not in figures(report(rows))["CKA with start, by layer: Part-of-speech tagging, target"].caption


def distances(seed: int, values: dict[int, float], encoder: str = "e") -> list[Row]:
    shared = {"kind": "probe", "encoder": encoder, "dataset": "target", "split": "probe", "seed": seed}
    return [
        Row("distance to start", value + layer, step=step, layer=layer, **shared)
        for step, value in values.items()
        for layer in (0, 1)
    ]


def test_layers_are_drawn_at_the_steps_that_all_seeds_have() -> None:
    """Of two seeds that rise the mean would fall where the higher one ends; another condition goes on."""
    made = report(
        distances(0, {0: 0.0, 10: 0.1, 20: 0.2}), distances(1, {0: 1.0, 10: 1.1}),
        distances(0, {0: 0.0, 20: 0.4}, encoder="f"),
    )  # fmt: skip
    (figure,) = probe_figures(made)
    found = {(one["condition"], one["layer"], one["step"]): one["value"] for one in records(figure.chart)}
    means = {("e", 0): 0.5, ("e", 10): 0.6, ("f", 0): 0.0, ("f", 20): 0.4}
    assert found == pytest.approx(
        {(condition, layer, step): mean + layer for (condition, step), mean in means.items() for layer in (0, 1)}
    )


def test_layers_without_a_step_of_all_seeds_have_no_chart() -> None:
    assert not probe_figures(report(distances(0, {10: 0.1}), distances(1, {20: 0.1})))


def test_bands_of_perplexity_are_of_its_logarithm() -> None:
    made = report(both(0, {0: 20, 10: 5}, {0: 10, 10: 12}), both(1, {0: 30, 10: 50}, {0: 10, 10: 13}))
    figure = figures(made)["Perplexity while one language is learned"]
    (found,) = (one for one in records(figure.chart) if (one["line"], one["step"]) == ("target", 10))
    expected = geometric_interval([5, 50])
    assert (found["mean"], found["low"], found["high"]) == pytest.approx((expected.mean, expected.low, expected.high))
    assert all(one["low"] > 0 for one in records(figure.chart) if one["step"]) and "bands" in figure.caption
    end = probe_tables(made)[0]
    assert texts(end)[0][1:3] == ["15.81", f"[{expected.low:.2f}, {expected.high:.2f}]"]


def score(value: float, seed: int, step: int, dataset: str = "world:qab", measure: str = "accuracy") -> Row:
    shared = {"kind": "probe", "encoder": "e", "task": "pos", "language": "qab"}
    return Row(measure, value, "share", **shared, seed=seed, step=step, dataset=dataset)


def test_scores_while_training_are_drawn() -> None:
    values = {0: (0.0, 0.0), 10: (0.5, 0.7)}
    rows = [score(value, seed, step) for step, each in values.items() for seed, value in enumerate(each)]
    made = report([*rows, score(0.9, 0, 0, "world:qac"), score(1.0, 0, 0, measure="coverage")])
    (figure,) = probe_figures(made)
    assert figure.title == "Accuracy during training: Part-of-speech tagging" and "bands" in figure.caption
    found = {(one["line"], one["step"]): one for one in records(figure.chart)}
    assert {key: round(one["mean"], 9) for key, one in found.items()} == {
        ("world:qab", 0): 0, ("world:qab", 10): 60, ("world:qac", 0): 90,
    }  # fmt: skip
    expected = student_t_interval([50, 70])
    assert (found["world:qab", 10]["low"], found["world:qab", 10]["high"]) == (expected.low, expected.high)
    assert found["world:qac", 0]["low"] is None


def test_one_seed_has_no_bands_and_the_caption_says_so() -> None:
    figure = figures(report(both(0, NEVER, FORGOTTEN)))["Perplexity while one language is learned"]
    assert "band" not in figure.caption and "No intervals" in figure.caption
    assert all(one["low"] is None for one in records(figure.chart))


def test_every_corpus_has_a_colour_and_a_column() -> None:
    made = report(both(0, NEVER, FORGOTTEN), curve("third", 0, FORGOTTEN))
    chart = figures(made)["Perplexity while one language is learned"].chart.to_dict()
    scale = chart["spec"]["layer"][1]["encoding"]["color"]["scale"]
    assert scale == {"domain": ["target", "control", "third"], "range": PALETTE[:3]}
    assert probe_tables(made)[0].headers[1::2][:3] == ["Target", "Control", "Third"]


def test_curves_without_a_control_are_drawn_too() -> None:
    made = report(curve("news", 0, NEVER))
    assert list(figures(made)) == ["Perplexity while one language is learned"]
    assert [table.title for table in probe_tables(made)] == ["Perplexity at the end of training"]


@pytest.mark.parametrize("lines", [False, True])
def test_names_beyond_the_palette_look_unlike_all_others(lines: bool) -> None:
    names = [f"condition {k}" for k in range(4 * len(PALETTE))]
    look = look_of("condition:N", names, set(names), lines=lines)
    assert len(look) == 2
    channels = [channel.to_dict()["scale"] for channel in look.values()]
    assert all(channel["domain"] == names for channel in channels)
    assert len(set(map(json.dumps, zip(*(channel["range"] for channel in channels), strict=True)))) == len(names)
    few = look_of("condition:N", names, set(names[: len(PALETTE)]), lines=lines)
    assert list(few) == ["color"] and few["color"].to_dict()["scale"]["range"] == PALETTE


def test_the_report_shows_them(tmp_path: Path) -> None:
    made = report(
        both(0, {0: 20, 10: 10}, {0: 10, 10: 12}),
        both(0, {0: 7}, {0: 99}, "native"),
        [Row("distance to start", 1.5, kind="probe", encoder="e", seed=0, step=step, layer=2) for step in (0, 10)],
    )
    assert list(figures(made)) == [
        "Perplexity while one language is learned",
        "Perplexity of the target against what the control loses",
        "Distance to start, by layer",
    ]
    end, crossing, best = probe_tables(made)
    assert [line[:2] for line in texts(end)] == [["e", "10.00"], ["native", "7.00"]]
    assert texts(crossing) == [["e", "8", "", "1 of 1"]]
    assert texts(best)[:3] == [
        ["5", "not trained", "", "20.00", "0.0", ""],
        ["10", "not trained", "", "20.00", "0.0", ""],
        ["20", "e", "10", "10.00", "20.0", "1"],
    ]
    front = [one for one in pareto_front(compromises(made)[""]) if one.step == 0]
    assert len(front) == 1  # the reference that the others are held against
    (path,) = write_report(made, tmp_path / "report.md")
    text = path.read_text()
    assert "- e: the target's perplexity falls below the control's at step 8 (one seed).\n" in text
    assert "### Where the curves cross\n" in text and "| e | 8 |  | 1 of 1 |\n" in text
    assert "### The best compromise\n" in text and "| 20 | e | 10 | 10.00 | 20.0 | 1 |\n" in text


def test_probes_and_scores_have_a_section_each_in_markdown() -> None:
    scored = Row("perplexity", 9.0, kind="score", encoder="e", task="mlm", language="de", split="test", seed=0)
    text = markdown(report([scored], both(0, NEVER, FORGOTTEN)))
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## While training", "## Masked language modelling: Perplexity"]
    assert "Charts: Perplexity while one language is learned; " in text


def test_texts_tell_apart_by_what_differs() -> None:
    assert told_apart([("a", "x", ""), ("b", "x", "")]) == ["a", "b"]
    assert told_apart([("a", "x", "1"), ("a", "y", "")]) == ["x", "y"]
    assert told_apart([("a", "x", "")]) == [""] and told_apart([]) == []
