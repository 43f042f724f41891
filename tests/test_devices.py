"""Which device `auto` is, and what is refused."""

import pytest
import torch
from pydantic import TypeAdapter, ValidationError

from babelscope.core.devices import Device, at_hand, check_device
from babelscope.core.errors import InputError
from babelscope.core.step import Needs
from babelscope.study.declare import Study
from babelscope.tuning.settings import Tuning


@pytest.fixture
def machine(monkeypatch):
    """Makes torch see these accelerators."""

    def has(*kinds):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in kinds)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in kinds)

    return has


@pytest.mark.parametrize(("kinds", "first"), [((), "cpu"), (("mps",), "mps"), (("cuda",), "cuda")])
def test_auto_is_what_the_machine_has_when_it_is_declared(machine, kinds, first):
    machine(*kinds)
    tuning = Tuning(device="auto")
    assert at_hand() == tuning.device == first
    machine("cuda", "mps")
    assert tuning.device == first
    assert Tuning.model_validate(tuning.model_dump()) == tuning == Tuning(device=first)


def test_the_default_is_the_processor_whatever_there_is(machine):
    machine("cuda")
    assert Tuning().device == "cpu"


def test_the_schema_of_a_study_has_auto():
    assert TypeAdapter(Device).json_schema()["enum"] == ["auto", "cpu", "cuda", "mps"]
    assert "auto" in str(Study.model_json_schema()["$defs"]["Tuning"]["properties"]["device"])


def test_what_is_not_there_is_refused(machine):
    machine("mps")
    check_device("cpu")
    check_device("mps")
    with pytest.raises(InputError, match="device cuda: torch sees none here; give cpu, or auto for what there is"):
        check_device("cuda")
    with pytest.raises(ValidationError, match="should be auto, cpu, cuda or mps"):
        Tuning(device="tpu")


def test_a_step_on_an_accelerator_needs_one_of_its_kind():
    assert Needs.on("cpu", 2) == Needs(gpus=0, threads=2, device="cpu")
    assert Needs.on("cuda", 1) == Needs(gpus=1, threads=1, device="cuda")
    assert Needs.on("mps", 1).gpus == 1
