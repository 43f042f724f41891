"""Built-in studies: declared under their names, with parameters of their own."""

from __future__ import annotations

from typing import Any

import pytest

from babelscope.core.errors import InputError, StudyError
from babelscope.studies import STUDIES, find_study
from babelscope.studies.multilingual import ENGLISH
from babelscope.study.encoders import Adaptation

BUILT_IN = [f"{name}@{profile}" for name, study in STUDIES.items() for profile in study.profiles]


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_studies_are_declared_under_their_name(name):
    assert find_study(name, {}).name == name


def test_a_study_without_profile_is_of_the_world():
    assert find_study("first-look", {}) == find_study("first-look@world", {})
    assert find_study("first-look", {"encoder": "mine"}).encoders == ("mine",)


@pytest.mark.parametrize("name", BUILT_IN)
def test_small_means_less_and_seeds_are_those_that_were_given(name):
    full, small = (find_study(name, {"scale": scale}) for scale in ("full", "small"))
    assert full == find_study(name, {})
    assert (full.seeds, small.seeds) == ((0, 1, 2), (0, 1))
    assert (
        find_study(name, {"scale": "small", "seeds": 5}).seeds
        == find_study(name, {"seeds": 5}).seeds
        == tuple(range(5))
    )
    assert small.tasks.keys() <= full.tasks.keys()
    for task, less in small.tasks.items():
        more = full.tasks[task]
        assert all(getattr(less.sizes, split) < getattr(more.sizes, split) for split in ("train", "dev", "test"))
        lengths = [one.tuning.steps or one.tuning.epochs * one.sizes.train for one in (less, more)]
        assert lengths[0] < lengths[1]
    for seeds in (0, 1001):
        with pytest.raises(StudyError, match="seeds: Input should be "):
            find_study(name, {"seeds": seeds})


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_learning_rate_that_is_given_is_that_of_every_task_and_of_nothing_else(name):
    usual, changed = find_study(name, {}), find_study(name, {"learning_rate": 3e-7})
    assert {task.tuning.learning_rate for task in changed.tasks.values()} == {3e-7}
    tasks = {
        task: transfer.model_copy(update={"tuning": usual.tasks[task].tuning})
        for task, transfer in changed.tasks.items()
    }
    assert changed.model_copy(update={"tasks": tasks}) == usual
    with pytest.raises(StudyError, match="learning_rate: Input should be greater than 0"):
        find_study(name, {"learning_rate": 0})


@pytest.mark.parametrize(
    ("study", "parameter"),
    [
        ("first-look", "encoder"), ("all-tasks", "encoder"), ("align-then-predict", "encoder"),
        ("alignment-by-layer", "encoder"), ("bring-in", "encoder"), ("unseen-languages", "encoder"),
        ("evolution", "encoder"), ("monolingual-benefits", "english"), ("monolingual-benefits", "foreign"),
        ("monolingual-benefits", "distilled"), ("underspecified", "encoders"),
    ],
)  # fmt: skip
def test_an_encoder_that_is_given_is_tuned_on_real_data_as_bert_is(study, parameter):
    def rates(**changes: Any) -> set[float]:
        """Of tasks, and of language modelling."""
        declared = find_study(f"{study}@real", changes)
        adapted = (encoder for encoder in declared.encoders if isinstance(encoder, Adaptation))
        return {trained.tuning.learning_rate for trained in (*declared.tasks.values(), *adapted)}

    def given(name: str) -> Any:
        return [name] if parameter in ("encoders", "foreign") else name

    assert rates(**{parameter: given("mbert")}) == {5e-5}
    assert rates(**{parameter: given(ENGLISH)}) == rates()
    assert max(rates()) > 5e-5


@pytest.mark.parametrize("study", ["first-look", "all-tasks"])
def test_first_studies_run_on_a_gpu_with_real_data(study):
    on_a_gpu = {"device": "cuda", "precision": "bfloat16"}
    tasks = find_study(f"{study}@real", on_a_gpu).tasks.values()
    assert {(task.tuning.device, task.tuning.precision) for task in tasks} == {("cuda", "bfloat16")}
    with pytest.raises(StudyError, match=r"device: .* has no use for it here"):
        find_study(f"{study}@world", on_a_gpu)


def test_a_small_pretraining_is_short_unless_its_length_is_given():
    def steps(**changes: Any) -> set[tuple[int, int]]:
        encoders = find_study("world-encoders@scratch", changes).encoders
        return {(encoder.tuning.steps, encoder.texts[0].sentences) for encoder in encoders}

    assert steps() == {(90_000, 20_000)}
    assert steps(scale="small") == {(3_000, 4_000)}
    assert steps(scale="small", steps=7) == {(7, 4_000)}
    assert steps(sentences=9) == {(90_000, 9)}


def test_names_and_parameters_that_do_not_exist_are_refused():
    with pytest.raises(
        InputError, match="no study is named 'nope'; there are first-look, align-then-predict, alignment-by-layer, "
    ):
        find_study("nope", {})
    with pytest.raises(InputError, match="first-look has no profile 'moon'; there are world, real"):
        find_study("first-look@moon", {})
    with pytest.raises(StudyError, match="nope: unknown key; allowed are device, encoder, keep, learning_rate, "):
        find_study("first-look", {"nope": 1})


def test_a_profile_left_empty_is_refused():
    with pytest.raises(InputError, match="no profile ''; there are world, real"):
        find_study("first-look@", {})
