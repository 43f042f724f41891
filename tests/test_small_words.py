"""What is said wrong in small: one step, a fault twice, more models than can be planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.errors import StudyError
from babelscope.core.words import counted
from babelscope.study.declare import Study
from command_line import babelscope, declaration, write_study


def test_a_fault_that_is_found_twice_is_listed_once():
    error = StudyError("study x", ["seeds: odd", "tasks: odd", "seeds: odd"])
    assert error.faults == ("seeds: odd", "tasks: odd")
    assert str(error) == "study x: 2 faults\n  - seeds: odd\n  - tasks: odd"


def test_one_step_is_one_step(encoder_folder: Path, tmp_path: Path):
    assert counted(1, "step") == "1 step" and counted(0, "step") == "0 steps" and counted(2000, "step") == "2,000 steps"
    measured = declaration(encoder_folder, tasks={}, surgeries=[None], seeds=[0])
    study = write_study(tmp_path / "one.yaml", measured | {"retrieval": {**measured["retrieval"], "targets": ["qab"]}})
    answer = babelscope("plan", study, "--store", tmp_path / "store")
    assert answer.status == 0 and "\n1 step, 0 cached, in " in answer.output


def test_more_models_than_can_be_planned_are_refused():
    study = declaration(Path("x")) | {"surgeries": [None], "encoders": ["world-natural"]}
    with pytest.raises(ValueError, match="100,001 models would be tuned; 100,000 are the most"):
        Study.model_validate(study | {"seeds": list(range(100_001))})
