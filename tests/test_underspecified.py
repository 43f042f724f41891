"""The study of lines between models: what it consists of, few examples, means of seeds and random directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from babelscope.core.errors import StudyError
from babelscope.encoders.blend import moved, random_direction
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.data_sizes import DataSizes
from babelscope.measures.interpolation import Interpolation
from babelscope.measures.surface import Surface
from babelscope.steps import Tune
from babelscope.steps.plan import Plan
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.measured import measured
from command_line import declaration, transfer

pytestmark = pytest.mark.usefixtures("in_process")

SEEDS = [0, 1, 2]


def between(study: Study) -> list[Interpolation]:
    return [measure for measure in study.measures if isinstance(measure, Interpolation)]


def test_the_published_setting_is_576_tunings():
    study = find_study("underspecified@paper", {})
    tunings = {(task, transfer.task, transfer.train) for task, transfer in study.tasks.items()}
    assert len(tunings) * len(study.encoders) * len(study.seeds) == 576
    pairs = {
        transfer.train for transfer in study.tasks.values() if len(transfer.train) == 2 and transfer.task == "xnli"
    }
    assert len(pairs) == 15 and ("xnli:ar", "xnli:en") not in pairs
    assert sum(len(one.tasks) == 3 for one in between(study)) == 4
    whole = [one for one in between(study) if one.part == "all"]
    assert sum(len(one.tasks) == 2 for one in whole) == 4 * 15 * 2


def test_the_published_setting_moves_the_encoder_and_the_head_alone_where_a_plane_is_drawn():
    study = find_study("underspecified@paper", {})
    planes = [one for one in between(study) if len(one.tasks) == 3]
    alone = {(one.part, one.tasks) for one in between(study) if one.part != "all"}
    lines = [(start, both) for both, *ends in (one.tasks for one in planes) for start in ends]
    assert alone == {(part, line) for part in ("encoder", "head") for line in lines}
    assert len(alone) == 4 * 2 * 2
    assert sum(isinstance(one, DataSizes) for one in study.measures) == 1


def test_the_world_has_all_pairs_of_two_sources_on_four_tasks():
    study = find_study("underspecified", {})
    lines = [one for one in between(study) if len(one.tasks) == 2 and one.split == "dev" and len(one.evaluate) == 2]
    assert len(lines) == 4 * 15 * 2 and len(study.encoders) == 2 and len(study.measures) - len(between(study)) == 4 * 15
    assert sum(len(one.tasks) == 3 for one in between(study)) == 2


def test_sources_have_more_labelled_sentences_in_every_model():
    study = find_study("underspecified", {})
    (plain,) = {transfer.sizes.train for name, transfer in study.tasks.items() if name == "pos-qaa-qac"}
    assert plain[0] > 2 * plain[1]
    assert study.tasks["pos-qaa-qae"].sizes.train == (plain[0], plain[0])  # both are sources
    assert study.tasks["pos-qae"].sizes.train == plain[:1] and study.tasks["pos-qac"].sizes.train == plain[1:]


def few(encoder: Path, **changes: Any) -> Study:
    task = transfer(train=["world:qaa", "world:qab"], shots=7, baselines=[]) | changes
    base = declaration(encoder, surgeries=[None], seeds=[0], retrieval=None)
    return Study.model_validate(base | {"tasks": {"pos": task}})


def test_every_training_set_can_have_its_own_size(encoder_folder):
    study = few(encoder_folder, shots=None, sizes={"train": [30, 20], "dev": 10, "test": 10})
    (model,) = {step for step in compile_study(study).steps.values() if isinstance(step, Tune)}
    assert [(data.language, data.examples) for data in model.train] == [("qaa", 30), ("qab", 20)]
    assert [(data.language, data.examples) for data in model.dev] == [("qaa", 10), ("qab", 10)]
    assert model.labels["train_languages"] == "qaa+qab" and "shots" not in model.labels
    with pytest.raises(ValueError, match=r"sizes\.train has 3 numbers for 2 training sets: give one, or 2"):
        few(encoder_folder, shots=None, sizes={"train": [30, 20, 10]})


def test_few_examples_of_the_second_language_are_all_trained_on(encoder_folder):
    (model,) = {step for step in compile_study(few(encoder_folder)).steps.values() if isinstance(step, Tune)}
    assert [(data.language, data.examples) for data in model.train] == [("qaa", 30), ("qab", 7)]
    assert [data.language for data in model.dev] == ["qaa"]
    assert (model.labels["train_languages"], model.labels["shots"]) == ("qaa+qab", 7)
    assert " on qaa+qab:7, pos" in model.title


def test_few_examples_of_an_only_language_leave_none_to_select_on(encoder_folder):
    steps = compile_study(few(encoder_folder, train=["world:qab"])).steps.values()
    (model,) = {step for step in steps if isinstance(step, Tune)}
    assert [(data.language, data.examples) for data in model.train] == [("qab", 7)]
    assert model.dev == ()
    assert (model.labels["train_languages"], model.labels["shots"]) == ("qab", 7)


@pytest.fixture(scope="module")
def ran(encoder_folder, tmp_path_factory) -> tuple[Plan, Store]:
    line = {"measure": "interpolation", "tasks": ["pos"], "evaluate": ["world:qab"], "split": "test", "sentences": 10}
    base = declaration(encoder_folder, surgeries=[None], seeds=SEEDS, retrieval=None)
    lines = [
        line | {"alphas": [0, 0.5, 1]},
        line | {"random": 1, "alphas": [0, 0.4]},
        line | {"random": 2, "alphas": [0, 0.4]},
    ]
    plan = compile_study(Study.model_validate(base | {"tasks": {"pos": transfer(baselines=[])}, "measures": lines}))
    store = Store(tmp_path_factory.mktemp("seeds") / "store")
    assert not run_plan(plan, store, jobs=1).failed
    return plan, store


def surfaces(plan: Plan, models: int, random: int = 0) -> list[Surface]:
    steps = [step for step in plan.steps.values() if isinstance(step, Surface)]
    return [step for step in steps if (len(step.models), len(step.random)) == (models, random)]


def weights(store: Store, model: Tune) -> dict[str, np.ndarray]:
    return load_file(store.result(model.key) / "best.safetensors")


def score(store: Store, step: Surface, mixed: dict[str, np.ndarray]) -> float:
    """The slow way: a model with these weights, evaluated."""
    model = step.models[0].model(FinishedSteps(store))
    model.module.load_state_dict({name: torch.from_numpy(np.array(one)) for name, one in mixed.items()}, strict=False)
    return measured(model, step.data[0].read())()["loss"]


def losses(store: Store, step: Surface) -> dict[tuple[float | None, float | None], float]:
    return {(row.alpha1, row.alpha2): row.value for row in store.rows(step.key) if row.measure == "loss"}


def test_lines_lead_from_seed_to_seed_and_the_mean_is_scored_as_well(ran):
    plan, store = ran
    lines, (mean,) = surfaces(plan, 2), surfaces(plan, 3)
    assert sorted(tuple(model.seed for model in line.models) for line in lines) == [(0, 1), (1, 2)]
    assert mean.labels["seed"] is None and mean.labels["path"] == "qaa > qaa > qaa"
    parts = [weights(store, model) for model in mean.models]
    mixed = {name: np.mean([part[name] for part in parts], axis=0, dtype=np.float64).astype("f") for name in parts[0]}
    (found,) = losses(store, mean).values()
    assert found == pytest.approx(score(store, mean, mixed), rel=1e-5)
    assert found < max(losses(store, lines[0]).values())


def test_means_over_seeds_need_more_than_one(encoder_folder):
    base = declaration(encoder_folder, surgeries=[None], seeds=[0], retrieval=None)
    line = {"measure": "interpolation", "tasks": ["pos"], "evaluate": ["world:qab"]}
    with pytest.raises(StudyError, match=r"measures\.0\.tasks: .* more than one seed"):
        compile_study(Study.model_validate(base | {"measures": [line]}))
    compile_study(Study.model_validate(base | {"measures": [line | {"random": 1}]}))
    with pytest.raises(ValueError, match="random directions lead from one task's models"):
        Study.model_validate(base | {"measures": [line | {"random": 1, "tasks": ["pos", "mlm"]}]})


def test_random_directions_start_at_the_model_and_go_where_their_seed_says(ran):
    plan, store = ran
    lines, planes = surfaces(plan, 1, 1), surfaces(plan, 1, 2)
    assert len(lines) == len(planes) == len(SEEDS)
    line, plane = losses(store, lines[0]), losses(store, planes[0])
    assert lines[0].labels["path"] == "qaa > random"
    assert (line[0.0, None], line[0.4, None]) == (plane[0.0, 0.0], plane[0.4, 0.0])
    own = weights(store, lines[0].models[0])
    assert line[0.0, None] == pytest.approx(score(store, lines[0], own), rel=1e-6)
    tensors = {name: torch.from_numpy(one) for name, one in own.items()}
    end = moved(tensors, random_direction(tensors, 0))
    mixed = {name: 0.6 * one + 0.4 * end[name].numpy() for name, one in own.items()}
    assert line[0.4, None] == pytest.approx(score(store, lines[0], mixed), rel=1e-5)
