"""A store that an older version filled: its steps count as computed, and its rows are read.

But for the steps whose version has risen, and those that came later, each with its reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import old_store
from babelscope.core.step import Step
from babelscope.engine.recall import recall
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study
from command_line import babelscope

pytestmark = pytest.mark.usefixtures("in_process")

RAISED = {"Compare": "2: seeds and sentences are crossed, and with fewer than three seeds nothing is said"}
ADDED = {
    "TextSize": "perplexities are shown per character and per byte, too",
    "ScoreReference": "references are scored on the test sets, too",
}
"""Kinds of step that the same study has now and had not then."""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> old_store.Sample:
    return old_store.sample(tmp_path_factory.mktemp("old"))


@pytest.fixture(scope="module")
def plan(sample: old_store.Sample) -> Plan:
    return compile_study(load_study(sample.study))


@pytest.fixture(scope="module")
def kept(plan: Plan) -> dict[str, Step]:
    """The steps of which the old store has the results."""
    return {key: step for key, step in plan.steps.items() if type(step).__name__ not in RAISED | ADDED}


def steps_of(sample: old_store.Sample) -> dict[str, str]:
    """Key -> kind of step, of all results of the store as it was."""
    store = Store(sample.store)
    return {path.name: store.manifest(path.name)["step"] for path in sample.store.glob("results/*/*")}


def test_its_files_are_sound(sample: old_store.Sample, kept: dict[str, Step]) -> None:
    store = Store(sample.store)
    for key in kept:
        assert store.result(key).is_dir()


def test_steps_are_recalled_from_its_manifests(sample: old_store.Sample, kept: dict[str, Step]) -> None:
    store = Store(sample.store)
    for key, step in kept.items():
        assert recall(store, key) == step


def test_every_number_is_read(sample: old_store.Sample, kept: dict[str, Step], tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    answer = babelscope("rows", sample.study, "--store", sample.store, "-o", file)
    assert answer.status == 0, answer.errors
    old, new = old_store.old_rows(), old_store.read_rows(file)
    found, expected = (old_store.numbers(rows[rows["key"].isin(kept)]) for rows in (new, old))
    assert found == expected and len(expected) > 1000
    assert {steps_of(sample)[key] for key in set(old["key"]) - set(kept)} == set(RAISED)


def test_nothing_but_what_was_raised_is_left_to_compute(tmp_path: Path, plan: Plan, kept: dict[str, Step]) -> None:
    """And that from what is there: no model is trained again, and no tuned one scored again."""
    sample = old_store.sample(tmp_path)
    store = Store(sample.store)
    assert {key for key in plan.steps if store.has(key)} == set(kept)
    added = [step for step in plan.steps.values() if type(step).__name__ in ADDED]
    assert added and len(plan.steps) - len(added) == len(steps_of(sample))
    answer = babelscope("run", sample.study, "--store", sample.store)
    assert answer.status == 0, answer.errors
    left = len(plan.steps) - len(kept)
    assert left and f"{left} steps computed, {len(kept)} cached" in answer.output + answer.errors
