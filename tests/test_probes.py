"""Probes: when they are taken, what they measure, and what the report makes of them."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.corpora.datasets import find
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import SHIPPED
from babelscope.report.model import Report
from babelscope.report.probe_page import probe_charts, probe_findings, probe_tables
from babelscope.report.probes import best_within, compromises, crossings, pareto_front
from babelscope.rows import Row
from babelscope.studies import published_rows
from babelscope.tasks.models import Design, task_model
from babelscope.tuning.loop import tune
from babelscope.tuning.observer import Observer
from babelscope.tuning.probes import Corpus, Probes
from babelscope.tuning.settings import Tuning


class Journal:
    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write_rows(self, rows) -> None:
        self.rows = list(rows)

    def add_rows(self, rows) -> None:
        self.rows += list(rows)

    def rows_so_far(self) -> list[Row]:
        return list(self.rows)


@given(st.integers(1, 5000))
def test_probes_are_taken_at_both_ends_and_between(total: int) -> None:
    every, growing = Probes(every=7), Probes()
    assert [step for step in range(total + 1) if every.due(step, total)] == sorted({*range(0, total + 1, 7), total})
    steps = [step for step in range(total + 1) if growing.due(step, total)]
    assert steps[0] == 0 and steps[-1] == total and set(steps) >= {1, min(2, total)}
    assert set(steps) == {0, total} | {s for k in range(40) if (s := round(math.sqrt(2) ** k)) <= total}


@pytest.fixture(scope="module")
def watched(tmp_path_factory) -> tuple[list[Row], dict[str, float]]:
    """Rows of a short training of the upper layers, and the perplexity that the evaluation gives afterwards."""
    from babelscope.tuning.schedule import parse_schedule

    encoder, start = (load_encoder(SHIPPED / "world-natural") for _ in range(2))
    corpora = {name: find("mlm", f"world:{code}", "dev", 12) for name, code in (("target", "qag"), ("control", "qaa"))}
    probes = Probes(
        every=2,
        perplexity=tuple(Corpus(name=name, data=(data,)) for name, data in corpora.items()),
        distance=(Corpus(name="target", data=(corpora["target"],)),),
    )
    model = task_model(encoder, Design("mlm"))
    journal = Journal()
    observer = Observer(probes, model, encoder, {"other": start}, journal, {"encoder": "e", "seed": 0})
    training = model.training(find("mlm", "world:qag", "train", 60).read(), {})
    tune(
        model.module, training, Tuning(steps=4), 0, tmp_path_factory.mktemp("run"),
        schedule=parse_schedule("freeze:4"), watch=observer,
    )  # fmt: skip
    scores = {name: model.scores(data.read())[0].value for name, data in corpora.items()}
    return journal.rows, scores


def test_perplexity_by_probe_is_perplexity_by_evaluation(watched) -> None:
    rows, scores = watched
    last = {row.dataset: row.value for row in rows if row.measure == "perplexity" and row.step == 4}
    assert last == scores


def test_frozen_layers_stay_where_they_are(watched) -> None:
    rows, _ = watched
    for measure in ("distance to start", "relative distance to start", "cosine distance to start"):
        values = {(row.step, row.layer): row.value for row in rows if row.measure == measure}
        assert {layer for _, layer in values} == set(range(7)) and {step for step, _ in values} == {0, 2, 4}
        assert all(values[step, layer] == 0 for step, layer in values if layer <= 4 or step == 0)
        assert all(values[step, layer] > 0 for step, layer in values if layer > 4 and step > 0)


def test_every_reference_is_measured(watched) -> None:
    rows, _ = watched
    measures = {row.measure for row in rows if row.layer is not None}
    kinds = ("distance", "relative distance", "cosine distance", "aligned distance")
    assert measures == {f"{kind} to {name}" for kind in kinds for name in ("start", "other")} | {
        "CKA with start", "CKA with other",
    }  # fmt: skip
    likeness = {(row.step, row.layer): row.value for row in rows if row.measure == "CKA with start"}
    assert all(math.isclose(likeness[0, layer], 1, abs_tol=1e-9) for layer in range(7))
    assert likeness[4, 6] < 1


def test_after_a_kill_later_probes_are_forgotten() -> None:
    encoder = load_encoder(SHIPPED / "world-natural")
    journal = Journal()
    observer = Observer(Probes(every=1), task_model(encoder, Design("mlm")), encoder, {}, journal, {})
    rows = [Row("perplexity", float(step), step=step) for step in range(5)]
    journal.rows = rows
    observer.resume(3)
    assert journal.rows == rows[:4]
    observer.resume(0)
    assert journal.rows == []


def curve(corpus: str, seed: int, values: dict[int, float], encoder: str = "e") -> list[Row]:
    return [
        Row("perplexity", value, encoder=encoder, dataset=corpus, split="probe", seed=seed, step=step)
        for step, value in values.items()
    ]


def report(*rows: list[Row]) -> Report:
    return Report("title", "question", [row for part in rows for row in part])


def test_curves_cross_where_the_lines_between_probes_do() -> None:
    found = crossings(
        report(
            curve("target", 0, {0: 20, 10: 10, 20: 5}), curve("control", 0, {0: 10, 10: 12, 20: 14}),
            curve("target", 1, {0: 20, 10: 15, 20: 10}), curve("control", 1, {0: 10, 10: 10, 20: 12}),
            curve("target", 2, {0: 9, 10: 8, 20: 7}), curve("control", 2, {0: 10, 10: 10, 20: 10}),
        )
    )  # fmt: skip
    assert [(one.crossed, one.seeds) for one in found] == [(2, 3)]
    first, second = 10 * 10 / 12, 10 + 10 * 5 / 7
    assert found[0].interval is not None and math.isclose(found[0].interval.mean, (first + second) / 2)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12))
def test_no_compromise_beats_the_front(values: list[tuple[int, int]]) -> None:
    start = {0: 10.0}
    target = start | {step: float(one) for step, (one, _) in enumerate(values, 1)}
    control = start | {step: float(one) for step, (_, one) in enumerate(values, 1)}
    found = compromises(report(curve("target", 0, target), curve("control", 0, control)))
    front = pareto_front(found)
    for one in front:
        assert not any(
            (other.target <= one.target and other.loss < one.loss)
            or (other.target < one.target and other.loss <= one.loss)
            for other in found
        )
    for loss in (-0.5, 0.0):
        allowed = [one.target for one in found if one.loss <= loss]
        best = best_within(found, loss)
        assert (best.target if best else None) == min(allowed, default=None)


def test_the_report_shows_them(tmp_path: Path) -> None:
    made = report(
        curve("target", 0, {0: 20, 10: 10}), curve("control", 0, {0: 10, 10: 12}),
        curve("target", 0, {0: 7}, "native"), curve("control", 0, {0: 99}, "native"),
        [Row("distance to start", 1.5, encoder="e", split="probe", seed=0, step=step, layer=2) for step in (0, 10)],
    )  # fmt: skip
    assert list(probe_charts(made)) == [
        "Perplexity while one language is learned",
        "Perplexity of the target against what the control loses",
        "Distance to start, by layer",
    ]
    for chart in probe_charts(made).values():
        chart.to_dict()
    techniques, crossing, best = probe_tables(made)
    assert [[cell.text for cell in line][:2] for line in techniques.lines] == [["e", "10.00"], ["native", "7.00"]]
    assert [cell.text for cell in crossing.lines[0]] == ["e", "8", "", "1 of 1"]
    assert [cell.text for cell in best.lines[0]] == ["5", "e", "0", "20.00", "0.0"]
    assert [cell.text for cell in best.lines[2]] == ["20", "e", "10", "10.00", "20.0"]
    assert probe_findings(made) == ["e: the target's perplexity falls below the control's at step 8 (1 of 1 seeds)."]


def test_published_curves_stand_beside_ours_but_are_no_compromise() -> None:
    published = published_rows("evolution@world")
    (found,) = crossings(report(published))
    assert found.condition.startswith("published: mBERT") and found.crossed == found.seeds == 3
    assert found.interval is not None and 150 < found.interval.mean < 300  # the paper says about 200
    ours = [*curve("target", 0, {0: 20, 10: 10}), *curve("control", 0, {0: 10, 10: 12})]
    assert {one.condition for one in compromises(report(published, ours))} == {"e"}
