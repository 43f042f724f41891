"""Rows of a store of format 1: read with today's columns, and nothing of them is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from babelscope.core.row import Row, as_record
from babelscope.core.step import STEPS
from babelscope.core.training import TrainedOn
from babelscope.engine.old_rows import upgraded
from babelscope.engine.progress import study_rows
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from format1 import as_format_1
from toy_steps import Toy

SAMPLES = sorted((Path(__file__).parent / "data" / "format1").glob("*.jsonl"))
KINDS = {
    "Evaluate": "score", "Baseline": "score", "Tune": "curve", "Pretrain": "curve", "Adapt": "curve", "Probe": "probe",
    "Retrieve": "retrieval", "SentenceSimilarity": "similarity", "Project": "projection", "Vocabulary": "vocabulary",
    "Cost": "cost", "Surface": "interpolation", "Angle": "angle", "Compare": "comparison",
}  # fmt: skip
SCORE = {"task": "pos", "language": "qab", "split": "test", "seed": 0}


def records(sample: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in sample.read_text(encoding="utf-8").splitlines()]


def sorted_lines(found: list[dict[str, object]]) -> list[str]:
    return sorted(json.dumps(record, sort_keys=True) for record in found)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_what_is_read_and_written_back_is_what_was_stored(sample):
    stored = records(sample)
    read = [
        row.labelled(kind=KINDS[sample.stem]) for row in upgraded(sample.stem, [Row(**record) for record in stored])
    ]
    back = [{name: value for name, value in row.items() if value is not None} for row in as_format_1(read)]
    assert sorted_lines(back) == sorted_lines(stored)
    for row in read:
        assert not row.measure.endswith((".low", ".high")) and ": " not in row.measure
        assert " " not in (row.train_languages or "") and TrainedOn.read(row.train_languages or "").shots is None
        assert " " not in (row.dataset or "") and row.dataset != "all"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_new_rows_are_left_alone(sample):
    once = upgraded(sample.stem, [Row(**record) for record in records(sample)])
    assert upgraded(sample.stem, once) == once


def test_every_step_says_what_its_rows_are():
    plan = compile_study(find_study("first-look", {"scale": "small"}))
    assert all(step.row_kind == KINDS[type(step).__name__] for step in plan.steps.values())
    assert {name: STEPS[name].row_kind for name in KINDS} == KINDS


def test_columns_have_what_was_packed():
    def only(step: str, *rows: Row) -> Row:
        (row,) = upgraded(step, rows)
        return row

    score = Row("accuracy", 0.5, "share", train_languages="qaa+qab:10", **SCORE)
    ends = [score.labelled(measure=f"accuracy.{end}", value=value) for end, value in (("low", 0.4), ("high", 0.6))]
    row = only("Evaluate", score, *ends)
    assert (row.value, row.low, row.high, row.train_languages, row.shots) == (0.5, 0.4, 0.6, "qaa+qab", 10)
    row = only("Surface", score.labelled(train_languages="qaa > qaa+qab:10, head alone"))
    assert (row.train_languages, row.shots, row.path, row.part) == ("qaa", None, "qaa > qaa+qab:10", "head")
    assert row.models == ("qaa", "qaa+qab:10")
    row = only("Angle", Row("angle", 9.0, train_languages="qaa+qab > qaa > qab", dataset="layer 3", layer=3))
    assert (row.train_languages, row.path, row.part, row.dataset) == (
        "qaa+qab", "qaa+qab > qaa > qab", "layer 3", None,
    )  # fmt: skip
    row = only("Compare", score.labelled(measure="las.nopunct gain: a claim: with a colon"))
    assert (row.measure, row.claim) == ("las.nopunct gain", "a claim: with a colon")
    row = only("Project", Row("t-SNE x", 1.0, dataset="world:qaa-qab 17"))
    assert (row.dataset, row.word) == ("world:qaa-qab", 17)


def test_a_measure_of_ones_own_may_be_named_as_it_likes():
    rows = [Row("depth", 1.0), Row("depth.low", 0.5)]
    assert upgraded("Depth", rows) == rows


def test_a_store_of_then_is_read_finished_or_not(tmp_path):
    steps = [Toy(name=name, outside=str(tmp_path)) for name in ("finished", "begun")]
    rows = [Row("loss", 0.5, train_languages="qaa+qab:10", step=1), Row("CKA", 0.1, split="probe")]
    store = Store(tmp_path / "store")
    store.prepare()
    for step in steps:
        store.write_rows(step.key, rows)
    store.publish(steps[0].key, {"step": "Toy"})
    read = study_rows("s", Plan.of(steps), store)
    assert [(row.train_languages, row.shots, row.kind) for row in read] == [
        ("qaa+qab", 10, None), (None, None, "probe"),
    ] * 2  # fmt: skip
    assert as_record(read[0])["study"] == "s"


@pytest.mark.parametrize("text", ["qaa", "qaa+qab", "qaa+qab:10", "qab:100", "qaa+qab:7+qac:7", "qah>world:3"])
def test_what_a_model_was_trained_on_is_one_text(text):
    found = TrainedOn.read(text)
    assert str(found) == text and Row("m", 0.0, **found.columns).trained_on == text
