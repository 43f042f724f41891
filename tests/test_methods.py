"""What a paper's methods say: surgeries, what is trained on how little, how much there is, and what to mind."""

from __future__ import annotations

import dataclasses

import pytest

from babelscope.report import Report, report_of, write_report
from babelscope.report.paper.latex import escaped
from babelscope.report.sections import sections_of
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from synthetic_report import synthetic_report

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def report() -> Report:
    return synthetic_report()


def test_two_seeds_have_no_intervals_and_surgeries_are_named(report, encoder_folder, tmp_path):
    task = {"train": ["world:qaa"], "evaluate": ["world:qab"], "sizes": {"train": 30}, "selected_on": "test"}
    declared = {"name": "two", "encoders": [str(encoder_folder)], "tasks": {"pos": task}, "seeds": [0, 1]}
    study = Study.model_validate(declared | {"surgeries": [None, "reverse", "reinit"]})
    write_report(report_of(study, report.rows, plan=compile_study(study)), tmp_path / "paper")
    text = (tmp_path / "paper" / "methods.tex").read_text()
    shown = "reinit (untrained in tables: all weights reinitialised)"
    assert f"Encoders were tuned as they are and after the surgeries reverse and {shown}." in text
    assert "trained on world:qaa (at most 30 examples), selected on the test sets and tested on" in text
    assert "fewer than 3 seeds are too few for intervals" in text and "Student" not in text


def test_methods_say_what_is_trained_of_an_encoder_on_how_little_and_what_is_kept(report, encoder_folder, tmp_path):
    sizes = {"train": 30, "dev": 20, "test": 20}
    few = {"task": "pos", "train": ["world:qaa", "world:qab"], "evaluate": ["world:qab"], "shots": 10, "sizes": sizes}
    alone = {"train": ["world:qac"], "evaluate": ["world:qac"], "baselines": ["word-majority"]}
    tasks = {"few": few, "alone": few | alone}
    declared = {"name": "s", "encoders": [str(encoder_folder)], "tasks": tasks, "seeds": [0], "keep": "compact"}
    study = Study.model_validate(declared | {"schedules": [None, "freeze:1"]})
    write_report(report_of(study, report.rows, plan=compile_study(study)), tmp_path / "paper")
    text = (tmp_path / "paper" / "methods.tex").read_text()
    for said in (
        "trained on world:qaa and world:qab (at most 30 examples, and 10 of the last), "
        "selected on at most 20 examples of the dev split of world:qaa and",
        "trained on world:qac (10 examples), taken as it was at the last step and tested on",
        "of world:qac; its baselines are word-majority.",
        "Encoders were trained under the schedules: everything trained and freeze:1. Best weights were kept rounded",
    ):
        assert said in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"shots": 10}, "(at most 30 examples, and 10 of each but the first), selected on at most 20 examples of the "
                        "dev split of world:qaa and tested"),
        ({"sizes": {"train": [30, 20, 30]}}, "(in this order, at most 30, at most 20 and at most 30 examples), "),
        ({}, "(at most 30 examples), selected on at most 20 examples of each dev split and tested"),
    ],
)  # fmt: skip
def test_methods_say_how_much_there_is_of_each_of_three_training_sets(report, encoder_folder, tmp_path, changes, said):
    sizes = {"train": 30, "dev": 20, "test": 20} | changes.get("sizes", {})
    train = [f"world:{code}" for code in ("qaa", "qab", "qac")]
    task = {"task": "pos", "train": train, "evaluate": ["world:qad"]} | changes | {"sizes": sizes}
    declared = {"name": "s", "encoders": [str(encoder_folder)], "tasks": {"of three": task}, "seeds": [0]}
    study = Study.model_validate(declared)
    write_report(report_of(study, report.rows, plan=compile_study(study)), tmp_path / "paper")
    assert said in (tmp_path / "paper" / "methods.tex").read_text()


def test_what_to_mind_is_in_the_document(report, tmp_path):
    hasty = dataclasses.replace(report, rows=[row for row in report.rows if not row.seed])
    write_report(hasty, tmp_path / "paper")
    warnings = [warning for part in sections_of(hasty) for warning in part.warnings]
    document = (tmp_path / "paper" / "paper.tex").read_text()
    assert warnings and all(rf"\emph{{To mind:}} {escaped(warning)}" in document for warning in warnings)
