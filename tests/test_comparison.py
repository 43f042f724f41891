"""Two models on the same sentences: what is compared, by how much the first is better, and how sure that is."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.advise.scores import gain_of, interval_of
from babelscope.core.errors import StudyError
from babelscope.core.inference import contributions, effect, gains
from babelscope.core.samples import Samples
from babelscope.engine.run import run_plan
from babelscope.measures.comparison import Compare
from babelscope.measures.comparison import counts as counts_of
from babelscope.steps import SENTENCES, Evaluate, Recurrent, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import declaration, transfer
from slowly import judged as slowly_judged
from slowly import share_of_each

# --- the interval


def counts(chance, seeds, sentences, share):
    words = np.broadcast_to(chance.integers(1, 9, sentences), (seeds, sentences))
    return np.stack([chance.binomial(words, share), words]).astype(float)


def slow_gain(first, second):
    """What each sentence adds to the gain, one seed and one sentence at a time."""
    table = []
    for k in range(first.shape[1]):
        ours, theirs = (share_of_each(side[0, k].tolist(), side[1, k].tolist()) for side in (first, second))
        table.append([a - b for a, b in zip(ours, theirs, strict=True)])
    return slowly_judged(table)


@pytest.mark.parametrize("seeds", [3, 6])
def test_gains_equal_an_obvious_computation(seeds):
    chance = np.random.default_rng(0)
    first, second = counts(chance, seeds, 12, 0.9), counts(chance, seeds, 12, 0.6)
    found, slow = effect(gains(first, second)), slow_gain(first, second)
    ratios = first[0].sum(1) / first[1].sum(1) - second[0].sum(1) / second[1].sum(1)
    assert found.mean == pytest.approx(ratios.mean())
    assert (found.mean, found.low, found.high, found.p) == pytest.approx(slow)


@pytest.mark.parametrize("seeds", [3, 5])
def test_equal_models_seldom_differ(seeds):
    """Seeds that differ by two points, 400 sentences: about one in twenty."""
    chance, shows = np.random.default_rng(seeds), 0
    for _ in range(200):
        words = np.broadcast_to(chance.integers(5, 15, 400), (seeds, 400))
        sides = [
            np.stack([chance.binomial(words, np.clip(0.8 + chance.normal(0, 0.02, (seeds, 1)), 0, 1)), words])
            for _ in range(2)
        ]
        shows += effect(gains(*sides)).p < 0.05
    assert shows / 200 < 0.09


@given(st.integers(1, 4), st.integers(1, 30), st.integers(0, 2**32))
def test_the_other_way_round_is_the_negative(seeds, sentences, seed):
    chance = np.random.default_rng(seed)
    first, second = counts(chance, seeds, sentences, 0.7), counts(chance, seeds, sentences, 0.5)
    one, other = (effect(gains(*sides)) for sides in ((first, second), (second, first)))
    assert one.mean == pytest.approx(-other.mean)
    assert one.known == other.known and (seeds >= 3 or not one.known)
    if one.known:
        np.testing.assert_allclose([one.low, one.high], [-other.high, -other.low], atol=1e-12)
        assert one.low <= one.high and one.p == pytest.approx(other.p)


@pytest.mark.parametrize("seeds", [1, 2, 4])
def test_a_race_knows_of_sentences_alone_where_it_has_one_round_or_two(seeds):
    """A recipe is chosen after few rounds too: what it has shown is judged with as many as there are."""
    chance = np.random.default_rng(3)
    first, second = counts(chance, seeds, 40, 0.9), counts(chance, seeds, 40, 0.6)
    few = seeds < 3  # then it is about the models that there are, as one
    ours, theirs = (side.mean(axis=1, keepdims=True) if few else side for side in (first, second))
    scored, other = (Samples(tuple(range(seeds)), contributions(*side)) for side in (first, second))
    found, slow = gain_of(scored, other), slow_gain(ours, theirs)
    assert (found.mean, found.low, found.high) == pytest.approx(slow[:3])
    assert interval_of(scored) == gain_of(scored, scored.times(0)).interval


def test_a_model_gains_nothing_over_itself():
    side = counts(np.random.default_rng(1), 3, 20, 0.8)
    found = effect(gains(side, side))
    assert (found.mean, found.low, found.high, found.p) == (0, None, None, None)


def test_pairing_helps_and_seeds_count():
    """Sentences that are hard for both do not widen the interval; a seed that differs does."""
    hard = np.repeat([0, 10], 50)
    words = np.full((3, 100), 10.0)
    first = np.stack([np.broadcast_to(hard, (3, 100)) + np.array([[0], [0], [0]]), words])
    second = first.copy()
    second[0, :, :50] += 1  # one word more in each hard sentence
    close = effect(gains(second, first))
    assert close.low > 0 and close.high - close.low < 0.03
    varied = second.copy()
    varied[0, 0] = 0  # one seed has failed
    assert effect(gains(varied, first)).p > 0.05


@pytest.mark.parametrize("shapes", [((2, 1, 3), (2, 1, 4)), ((2, 3, 1), (2, 1, 4)), ((2, 1, 0), (2, 1, 0))])
def test_sides_that_do_not_match_are_refused(shapes):
    with pytest.raises(ValueError, match=r"needs .*seeds"):
        gains(*(np.ones(shape) for shape in shapes))


# --- in a study


def scored(encoder, task="pos", evaluate="world:qah>world"):
    return {"task": task, "encoder": str(encoder), "evaluate": evaluate}


def compared(folder, first=None, second=None):
    tasks = {
        "pos": transfer(evaluate=["world:qah", "world:qah>world"], baselines=["bilstm"]),
        "other": transfer(
            task="pos", train=["world:qab"], evaluate=["world:qab"], baselines=[], encoders=[str(folder)]
        ),
    }
    first, second = first or scored(folder), second or scored(folder, evaluate="world:qah")
    comparison = {"measure": "comparison", "claim": "letters help", "first": first, "second": second}
    base = declaration(folder, surgeries=[None], retrieval=None, tasks=tasks)
    return Study.model_validate(base | {"measures": [comparison]})


def test_a_comparison_is_of_all_seeds(encoder_folder):
    steps = compile_study(compared(encoder_folder, second=scored("bilstm"))).steps.values()
    (step,) = [step for step in steps if isinstance(step, Compare)]
    assert [one.model.seed for one in step.first] == [one.model.seed for one in step.second] == [0, 1]
    assert all(isinstance(one.model.encoder, Recurrent) for one in step.second)
    assert all(one in steps for one in (*step.first, *step.second))  # evaluated once


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("seeds", [2, 3])
def test_gains_are_rows_and_come_from_the_evaluations(encoder_folder, store, seeds):
    plan = compile_study(compared(encoder_folder).model_copy(update={"seeds": tuple(range(seeds))}))
    run_plan(plan, store, jobs=1)
    (step,) = [step for step in plan.steps.values() if isinstance(step, Compare)]
    (gain,) = store.rows(step.key)

    def accuracies(side):
        return [next(row.value for row in store.rows(one.key) if row.measure == "accuracy") for one in side]

    assert (gain.measure, gain.claim, gain.unit) == ("accuracy gain", "letters help", "share")
    assert gain.value == pytest.approx(np.mean(accuracies(step.first)) - np.mean(accuracies(step.second)))
    assert (gain.language, gain.dataset, gain.train_languages, gain.seed) == (
        "qah>world", "world:qah>world", "qaa", None,
    )  # fmt: skip
    first, second = (
        [json.loads((store.result(one.key) / SENTENCES).read_text())["accuracy"] for one in side]
        for side in (step.first, step.second)
    )
    right, words = (sum(part) for part in first[0])
    assert right / words == accuracies(step.first[:1])[0]
    slow = slow_gain(np.swapaxes(first, 0, 1), np.swapaxes(second, 0, 1))
    ends = (gain.low, gain.high, gain.p)
    assert ends == (None,) * 3 if seeds < 3 else ends == pytest.approx(slow[1:])


def test_a_measure_that_a_seed_has_not_is_left_out(tmp_path):
    """A model that predicts no entity has no precision."""
    kept = [{"f1": [[1], [2]], "precision": [[1], [1]]}, {"f1": [[0], [2]]}]
    for order in (kept, kept[::-1]):
        for seed, each in enumerate(order):
            (tmp_path / str(seed)).mkdir(exist_ok=True)
            (tmp_path / str(seed) / SENTENCES).write_text(json.dumps(each))
        found = counts_of([0, 1], SimpleNamespace(result=lambda seed: tmp_path / str(seed)))
        assert list(found) == ["f1"] and found["f1"].shape == (2, 2, 1)


def test_an_encoder_is_tuned_on_what_it_is_meant_for(encoder_folder):
    study = compared(encoder_folder)
    both = study.model_copy(update={"encoders": (str(encoder_folder), "world-natural")})
    tuned = {
        (step.encoder.labels["encoder"], step.labels["train_languages"])
        for step in compile_study(both).steps.values()
        if isinstance(step, Tune) and not isinstance(step.encoder, Recurrent)
    }
    name = next(iter(tuned - {("world-natural", "qaa")}))[0]
    assert tuned == {(name, "qaa"), ("world-natural", "qaa"), (name, "qab")}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "ner"}, "'ner' is no task of the study; there are pos, other"),
        ({"encoder": "mbert"}, "no encoder is named mbert; there are"),
        ({"evaluate": "world:qab"}, "pos is not scored on world:qab; it is on world:qah"),
        ({"task": "other", "encoder": "bilstm", "evaluate": "world:qab"}, "bilstm is no baseline of other; add it"),
        ({"task": "other", "evaluate": "world:qab"}, r"world:qah .* and world:qab .* are not the same sentences"),
    ],
)
def test_what_cannot_be_compared_is_refused(encoder_folder, changes, message):
    with pytest.raises(StudyError, match=message):
        compile_study(compared(encoder_folder, second=scored(encoder_folder, evaluate="world:qah") | changes))


def test_what_is_not_scored_sentence_by_sentence_is_not_compared(encoder_folder):
    task = transfer(task="paraphrase", evaluate=["world:qab"], baselines=[])
    side = scored(encoder_folder, "texts", "world:qab")
    comparison = {"measure": "comparison", "claim": "better than itself", "first": side, "second": side}
    base = declaration(encoder_folder, surgeries=[None], retrieval=None, tasks={"texts": task})
    with pytest.raises(StudyError, match="paraphrase is not scored sentence by sentence"):
        compile_study(Study.model_validate(base | {"measures": [comparison]}))


def test_an_encoder_that_a_task_is_not_for_is_not_compared_on_it(encoder_folder):
    second = scored("world-natural", "other", "world:qab")
    study = compared(encoder_folder, scored(encoder_folder, "other", "world:qab"), second)
    both = study.model_copy(update={"encoders": (str(encoder_folder), "world-natural")})
    with pytest.raises(StudyError, match="world-natural is not tuned on other; add it to the task's encoders"):
        compile_study(both)


def test_an_encoder_that_there_is_not_is_refused(encoder_folder):
    study = compared(encoder_folder)
    tasks = study.tasks | {"other": study.tasks["other"].model_copy(update={"encoders": ("mbert",)})}
    with pytest.raises(StudyError, match=r"tasks.other.encoders.0: no encoder is named mbert; there are"):
        compile_study(study.model_copy(update={"tasks": tasks}))


def test_one_training_may_be_scored_in_two_places_but_not_done_in_two_ways(encoder_folder):
    tasks = {"here": transfer(task="pos"), "there": transfer(task="pos", evaluate=["world:qad"], baselines=[])}
    base = declaration(encoder_folder, surgeries=[None], seeds=[0], retrieval=None, tasks=tasks)
    steps = compile_study(Study.model_validate(base)).steps.values()
    assert len([step for step in steps if isinstance(step, Tune) and not isinstance(step.encoder, Recurrent)]) == 1
    assert {step.data.code for step in steps if isinstance(step, Evaluate)} >= {"qad"}
    tasks["there"]["sizes"] = {"train": 5}
    with pytest.raises(ValueError, match="pos is trained in two ways on world:qaa"):
        Study.model_validate(base)


def test_a_model_and_itself_are_refused(encoder_folder):
    side = {"task": "pos", "encoder": f"{encoder_folder.parent.name}/{encoder_folder.name}", "evaluate": "world:qab"}
    comparison = {"measure": "comparison", "claim": "better", "first": side, "second": side}
    declared = declaration(encoder_folder, retrieval=None, measures=[comparison])
    with pytest.raises(StudyError, match="first and second are one model"):
        compile_study(Study.model_validate(declared))
