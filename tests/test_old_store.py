"""A store that an older version filled: its steps count as computed, and its rows are read."""

from __future__ import annotations

from pathlib import Path

import pytest

import old_store
from babelscope.engine.recall import recall
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from command_line import babelscope


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> old_store.Sample:
    return old_store.sample(tmp_path_factory.mktemp("old"))


@pytest.fixture(scope="module")
def plan(sample: old_store.Sample) -> Plan:
    return compile_study(load_study(sample.study))


def test_nothing_is_left_to_compute(sample: old_store.Sample, plan: Plan) -> None:
    store = Store(sample.store)
    assert {type(step).__name__ for key, step in plan.steps.items() if not store.has(key)} == set()
    assert len(plan.steps) == sum(1 for _ in sample.store.glob("results/*/*"))
    answer = babelscope("run", sample.study, "--store", sample.store)
    assert answer.status == 0, answer.errors
    assert f"0 steps computed, {len(plan.steps)} cached" in answer.output + answer.errors


def test_its_files_are_sound(sample: old_store.Sample, plan: Plan) -> None:
    store = Store(sample.store)
    for key in plan.steps:
        assert store.result(key).is_dir()


def test_steps_are_recalled_from_its_manifests(sample: old_store.Sample, plan: Plan) -> None:
    store = Store(sample.store)
    for key, step in plan.steps.items():
        assert recall(store, key) == step


def test_every_number_is_read(sample: old_store.Sample, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    answer = babelscope("rows", sample.study, "--store", sample.store, "-o", file)
    assert answer.status == 0, answer.errors
    found, expected = old_store.numbers(old_store.read_rows(file)), old_store.numbers(old_store.old_rows())
    assert found == expected and len(expected) > 1000
