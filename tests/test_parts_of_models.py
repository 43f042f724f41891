"""Parts of models: what is frozen has no angle, and a family's own head has its pooler."""

from __future__ import annotations

import pytest

from babelscope.core.validation import validate
from babelscope.encoders.load import load_encoder
from babelscope.engine.store import Store
from babelscope.measures.angle import Angle, Group, _groups
from babelscope.measures.surface import Surface, _names
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model
from between_study import (
    angle,
    complete,
    interpolation,
    trained,
)

pytestmark = pytest.mark.usefixtures("in_process")


def test_what_is_frozen_has_no_angle(encoder_folder, tmp_path):
    names = ["pos a", "pos b", "pos c"]
    study = {
        "name": "frozen", "encoders": [str(encoder_folder)], "schedules": ["freeze:1"], "seeds": [0],
        "tasks": {name: trained(name) for name in names}, "measures": [angle(*names)],
    }  # fmt: skip
    plan, store = compile_study(validate(Study, study, "test")), Store(tmp_path / "store")
    [step] = [step for step in plan.steps.values() if isinstance(step, Angle)]
    complete([*step.inputs, step], store)
    groups = {row.part for row in store.rows(step.key)}
    assert {"all", "layer 2", "head", "attention"} <= groups
    assert not groups & {"layer 1", "word-embeddings", "positions"}


def test_the_pooler_of_a_familys_own_head_is_a_part_of_the_head(encoder_folder):
    """It stood with the encoder, since it is inside of the backbone there; results of then have other keys."""
    model = task_model(load_encoder(encoder_folder), Design("inference", head="family"))
    encoder, head = (set(_names(model, part)) for part in ("encoder", "head"))
    whole = {name for name, _ in model.module.named_parameters()}
    assert encoder | head == whole and not encoder & head
    of_pooler = {name for name in whole if "pooler" in name}
    assert of_pooler and of_pooler < head
    groups = _groups(model, load_encoder(encoder_folder))
    assert set(groups[Group("head")]) == head


@pytest.mark.parametrize(("head", "part", "edition"), [("family", "head", 2), ("family", "all", 1), (None, "head", 1)])
def test_lines_of_what_counted_otherwise_have_keys_of_their_own(encoder_folder, head, part, edition):
    tasks = {f"inference {one}": trained(f"inference {one}") | ({"head": head} if head else {}) for one in "abc"}
    names = list(tasks)
    study = {
        "name": "test", "encoders": [str(encoder_folder)], "tasks": tasks, "seeds": [0],
        "measures": [interpolation(*names[:2], part=part, alphas=[0, 1]), angle(*names)],
    }  # fmt: skip
    steps = compile_study(validate(Study, study, "test")).steps.values()
    assert [step.edition for step in steps if isinstance(step, Surface)] == [edition]
    assert [step.edition for step in steps if isinstance(step, Angle)] == [2 if head else 1]
