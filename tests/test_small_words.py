"""What is said wrong in small: hosts in addresses, one step, a fault twice, more models than can be planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.errors import StoreError, StudyError
from babelscope.core.words import counted
from babelscope.engine.sharing.addresses import objects_at
from babelscope.study.declare import Study
from command_line import babelscope, declaration, write_study


def test_a_machine_in_the_address_of_a_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    answer = babelscope("plan", "first-look", "--store", "file://host/x")
    assert answer.status == StoreError.exit_status and not [*tmp_path.iterdir()]
    assert "file://host/x: 'host' is no folder here, and no other machine is asked; give all of" in answer.errors
    (tmp_path / "there").mkdir()
    for address in ("file://there/x", "file://./x/y", "file://new", f"file://{tmp_path}/new/x"):
        objects_at(address)


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
