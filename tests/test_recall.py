"""A key is enough to have a step again."""

import json
import subprocess
import sys

import pytest

from babelscope.core.errors import InputError, StoreError
from babelscope.core.hashing import digest
from babelscope.engine.recall import describe, find_key, recall
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import declaration, transfer

GROWN = {
    "name": "grown", "texts": [{"language": "qaa", "sentences": 30}], "vocabulary_size": 300,
    "shape": {"hidden": 16, "layers": 1, "heads": 1, "feed_forward": 16},
    "tuning": {"learning_rate": 1e-3, "epochs": 1},
}  # fmt: skip
TASKS = {
    "pos": transfer(baselines=["most-frequent-tag", "bilstm"]),
    "ner": transfer(baselines=[]),
    "inference": transfer(baselines=[], head="family"),
}


@pytest.fixture
def plan(encoder_folder):
    graft = {"name": "graft", "operations": ["graft:part=word-embeddings,donor=grown"]}
    surgeries = [None, "reinit", graft]
    declared = declaration(encoder_folder, encoders=[str(encoder_folder), GROWN], seeds=[0], tasks=TASKS)
    return compile_study(Study.model_validate(declared | {"surgeries": surgeries}))


@pytest.fixture
def published(plan, store):
    """A store of the plan's results, which hold nothing but the manifests that a run writes."""
    store.prepare()
    for key, step in plan.steps.items():
        store.publish(key, {**describe(step), "seconds": 1.0})
    return store


def change(store, key, **changes):
    """Write another manifest as if it had been published so."""
    path = store.folder / "results" / key[:2] / key / "manifest.json"
    manifest = {name: value for name, value in json.loads(path.read_text()).items() if name != "digest"} | changes
    path.write_text(json.dumps(manifest | {"digest": digest(manifest)}))


def test_a_process_that_has_measured_nothing_knows_the_steps_of_measures():
    """It said of every bundle with such a step that another version had written it."""
    recall_one = "step_of({'step': 'Retrieve', 'fields': {'texts': 3}}, None)"
    code = f"from babelscope.engine.recall import step_of\n{recall_one}"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert "validation errors for Retrieve" in said and "KeyError" not in said


def test_every_step_of_a_plan_is_recalled(plan, published):
    assert {type(step).__name__ for step in plan.steps.values()} == {
        "Pretrain", "Tune", "Evaluate", "Baseline", "Retrieve"
    }  # fmt: skip
    for key, step in plan.steps.items():
        assert recall(published, key) == step


def test_a_key_is_found_by_its_first_digits(plan, published):
    for key in plan.steps:
        assert find_key(published, key[:16]) == key


@pytest.mark.parametrize("digits", ["abc", "qwer", "ABCD", "../..", "0" * 65])
def test_what_is_no_key_is_refused(digits, store):
    with pytest.raises(InputError, match="neither a folder nor the key of a result"):
        find_key(store, digits)


def test_an_unknown_key_is_refused(published):
    with pytest.raises(InputError, match="no results in"):
        find_key(published, "0" * 20)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"step": "Dance"}, "there is no 'Dance'"),
        ({"fields": {}}, "Field required"),
    ],
)
def test_a_step_that_this_version_does_not_have_is_refused(changes, problem, plan, published):
    key = next(key for key, step in plan.steps.items() if type(step).__name__ == "Tune")
    change(published, key, **changes)
    with pytest.raises(StoreError, match=f"cannot be made again: .*{problem}.*Use version"):
        recall(published, key)


def test_a_step_of_another_key_is_refused(plan, published):
    key = next(key for key, step in plan.steps.items() if type(step).__name__ == "Tune")
    change(published, key, fields=describe(plan.steps[key].model_copy(update={"seed": 7}))["fields"])
    with pytest.raises(StoreError, match="another key now"):
        recall(published, key)
