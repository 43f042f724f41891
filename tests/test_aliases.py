"""A part of a study that YAML names twice is changed in the one place that is meant."""

from __future__ import annotations

import pytest

from babelscope.study.declare import load_study

STUDY = """
name: aliases
encoders: [world-natural]
tasks:
  pos: &task {train: ["world:qaa"], evaluate: ["world:qab"], sizes: &sizes {train: 60, dev: 20, test: 30}}
  pos-two: {<<: *task, task: pos, train: ["world:qad"]}
  ner: {train: ["world:qaa"], evaluate: ["world:qab"], sizes: *sizes}
seeds: [0]
contrasts:
  - &claim
    {claim: best, first: {encoder: world-natural}, second: {encoder: world-natural, surgery: reinit}, languages: [qab]}
  - {<<: *claim, claim: again}
surgeries: [null, reinit]
"""


@pytest.mark.parametrize("changed", ["pos", "pos-two", "ner"])
def test_a_change_is_of_one_place(changed, tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    study = load_study(tmp_path / "study.yaml", {f"tasks.{changed}.sizes.train": 30})
    assert {name: task.sizes.train for name, task in study.tasks.items()} == {
        name: 30 if name == changed else 60 for name in ("pos", "pos-two", "ner")
    }


def test_several_changes_do_not_undo_each_other(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    changes = {"tasks.pos.sizes.train": 30, "tasks.ner.sizes.train": 40, "contrasts.1.languages.0": "qac"}
    study = load_study(tmp_path / "study.yaml", changes)
    assert {name: task.sizes.train for name, task in study.tasks.items()} == {"pos": 30, "pos-two": 60, "ner": 40}
    assert [contrast.languages for contrast in study.contrasts] == [("qab",), ("qac",)]
