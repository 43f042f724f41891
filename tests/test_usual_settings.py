"""Settings that studies of real encoders need: all examples, and a learning rate of their size."""

from __future__ import annotations

from typing import Any

import pytest

from babelscope.core.errors import StudyError
from babelscope.face.notes import notes
from babelscope.study.compile import compile_study
from babelscope.study.declare import EVERYTHING, Sizes, Study


def study(**task: Any) -> Study:
    given = {"train": ["world:qaa"], "evaluate": ["world:qab"], "sizes": {"train": 20}} | task
    return Study.model_validate({"name": "s", "encoders": ["shape:mbert", "world-pairs"], "tasks": {"pos": given}})


def rates(**task: Any) -> list[str]:
    return [line for line in notes(compile_study(study(**task)).steps.values()) if "learning rate" in line]


def test_a_wide_encoder_with_the_rate_of_a_narrow_one_is_told():
    (told,) = rates()
    assert told.startswith("shape:mbert, 768 wide, is tuned with a learning rate of 0.0005, which suits encoders about")


@pytest.mark.parametrize("rate", [5e-5, 2e-4])
def test_a_small_rate_is_not_told(rate):
    assert rates(tuning={"learning_rate": rate}) == []


def test_adapters_take_larger_rates():
    declared = study().model_dump() | {"schedules": ["freeze:0,lora=4"]}
    told = notes(compile_study(Study.model_validate(declared)).steps.values())
    assert not any("learning rate" in line for line in told)


def test_all_examples_are_asked_for_by_a_word():
    assert Sizes.model_validate({"train": "all", "dev": "all", "test": "all"}) == EVERYTHING
    assert Sizes.model_validate({"train": [10, "all"]}).of("train", 2) == (10, EVERYTHING.test)
    with pytest.raises(ValueError, match="Input should be a valid integer"):
        Sizes.model_validate({"train": "al"})


def test_the_world_has_no_last_example():
    with pytest.raises(StudyError, match="world:qaa: the artificial world has no end; give a number of examples"):
        compile_study(study(sizes={"train": "all"}))


def test_only_what_trains_layers_is_told():
    declared = study().model_dump() | {"schedules": ["freeze:12"], "encoders": ["shape:mbert"]}
    told = notes(compile_study(Study.model_validate(declared)).steps.values())
    assert not any("learning rate" in line for line in told)
    adapted = {"name": "adapted", "encoder": "shape:mbert", "texts": [{"language": "qab", "sentences": 50}]}
    adapted["tuning"] = {"epochs": 1}
    declared = study(tuning={"learning_rate": 2e-5}).model_dump() | {"encoders": [adapted]}
    told = notes(compile_study(Study.model_validate(declared)).steps.values())
    assert [line.partition(",")[0] for line in told if "learning rate" in line] == ["shape:mbert"]
