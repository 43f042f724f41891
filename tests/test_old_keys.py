"""Measures by the keys that studies had before there was a list of them: the same plan, the same faults."""

from __future__ import annotations

import pytest

import own_measures  # noqa: F401
from babelscope.core.errors import StudyError
from babelscope.steps import Evaluate, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study, dump_study, load_study
from babelscope.study.old_keys import OLD_KEYS
from studies_in_text import MINIMAL

pytestmark = pytest.mark.usefixtures("in_process")


OLD = {
    "retrieval": {"source": "qaa", "targets": ["qab"], "sentences": 10},
    "projection": {"source": "qaa", "targets": ["qab"]},
    "vocabulary": {"reference": "world-natural", "treebanks": ["world:qaa"]},
    "costs": ["reverse"],
    "similarities": [{"source": "world:qaa", "targets": ["world:qab"], "tuned": ["a"]}],
    "interpolations": [{"tasks": ["a", "b"], "evaluate": ["world:qab"]}],
    "angles": [["a", "b", "c"]],
    "comparisons": [
        {
            "claim": "better",
            "first": {"task": "a", "encoder": "world-natural", "evaluate": "world:qab"},
            "second": {"task": "b", "encoder": "world-natural", "evaluate": "world:qab"},
        }
    ],
}
NEW = [
    {"measure": "retrieval", **OLD["retrieval"]},
    {"measure": "projection", **OLD["projection"]},
    {"measure": "vocabulary", **OLD["vocabulary"]},
    {"measure": "cost", "surgeries": ["reverse"]},
    {"measure": "similarity", **OLD["similarities"][0]},
    {"measure": "interpolation", **OLD["interpolations"][0]},
    {"measure": "angle", "tasks": ["a", "b", "c"]},
    {"measure": "comparison", **OLD["comparisons"][0]},
]


def both(**keys) -> Study:
    train = {"a": ["world:qaa"], "b": ["world:qab"], "c": ["world:qac"]}
    tasks = {
        name: {"task": "pos", "train": given, "evaluate": ["world:qab"], "sizes": {"train": 9, "test": 9}}
        for name, given in train.items()
    }
    base = {"name": "both", "encoders": ["world-natural"], "surgeries": [None, "reverse"], "tasks": tasks}
    return Study.model_validate(base | keys)


def test_old_keys_are_the_same_measures_and_the_same_plan():
    old, new = both(**OLD), both(measures=NEW)
    assert OLD.keys() == OLD_KEYS.keys() and old == new
    assert list(compile_study(old).steps) == list(compile_study(new).steps)


def test_old_keys_stand_behind_the_new_list():
    study = both(measures=NEW[4:5], retrieval=OLD["retrieval"], costs=[], projection=None)
    assert [measure.kind for measure in study.measures] == ["similarity", "retrieval"]


def test_measures_come_before_or_after_the_scores_wherever_they_are_listed():
    steps = list(compile_study(both(measures=NEW[::-1])).steps.values())
    kinds = [step.row_kind for step in steps if step.row_kind]
    first = {"retrieval", "projection", "vocabulary", "cost"}
    assert set(kinds[: sum(kind in first for kind in kinds)]) == first
    places = [k for k, step in enumerate(steps) if isinstance(step, Evaluate | Tune)]
    assert {step.row_kind for step in steps[: places[0]]} == first


def test_a_fault_in_an_old_key_is_told_by_both_of_its_names(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(
        MINIMAL
        + "measures: [{measure: letters}]\nretrieval: {source: qaa, targets: []}\nangles: [[a, b, c], [a, b]]\n"
        + "comparisons: [{claim: x, frist: {}}]\n",
        encoding="utf-8",
    )
    with pytest.raises(StudyError) as caught:
        load_study(file)
    paths = [fault.partition(":")[0] for fault in caught.value.faults]
    assert paths[:2] == ["measures.1 (retrieval).targets", "measures.3 (angles.1).tasks.2"]
    assert "measures.4 (comparisons.0).frist" in paths


def test_studies_are_written_with_the_new_list(tmp_path):
    text = dump_study(both(**OLD))
    assert not [key for key in OLD_KEYS if f"\n{key}:" in text]
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    assert load_study(tmp_path / "study.yaml") == both(measures=NEW)
