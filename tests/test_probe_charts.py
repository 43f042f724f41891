"""Charts of probes: layers, bands of perplexity, scores while training, and colours."""

import itertools
import json

import pytest

from babelscope.core.intervals import geometric_interval, student_t_interval
from babelscope.core.row import Row
from babelscope.report.figures import PALETTE, look_of
from babelscope.report.sections.probes.figures import probe_figures
from babelscope.report.sections.probes.tables import probe_tables
from probe_rows import FORGOTTEN, NEVER, both, curve, figures, records, report, texts


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
