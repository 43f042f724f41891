"""Two models on the same sentences: what is compared, by how much the first is better, and how sure that is."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from babelscope.core.errors import StudyError
from babelscope.core.intervals import mean_ratio, paired_gain
from babelscope.engine import run_plan
from babelscope.measures.comparison import Compare
from babelscope.steps import SENTENCES, Evaluate, Recurrent, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import declaration, transfer

# --- the interval


def slow_gains(first, second, resamples, seed):
    """The mean gain over seeds of the same draws of sentences, one sentence and one seed at a time."""
    (_, seeds, sentences), generator, gains = first.shape, np.random.default_rng(seed), []
    for start in range(0, resamples, 100):
        size = min(100, resamples - start)
        for counts in generator.multinomial(sentences, np.full(sentences, 1 / sentences), size):
            total = 0.0
            for k in range(seeds):
                sides = []
                for side in (first, second):
                    above = sum(side[0, k, i] * counts[i] for i in range(sentences))
                    below = sum(side[1, k, i] * counts[i] for i in range(sentences))
                    sides.append(above / below if below else 0.0)
                total += sides[0] - sides[1]
            gains.append(total / seeds)
    return np.asarray(gains)


def counts(chance, seeds, sentences, share):
    words = np.broadcast_to(chance.integers(1, 9, sentences), (seeds, sentences))
    return np.stack([chance.binomial(words, share), words]).astype(float)


def test_gains_equal_an_obvious_computation():
    chance = np.random.default_rng(0)
    first, second = counts(chance, 3, 12, 0.9), counts(chance, 3, 12, 0.6)
    found = paired_gain(first, second, resamples=150, seed=7)
    ratios = first[0].sum(1) / first[1].sum(1) - second[0].sum(1) / second[1].sum(1)
    by_sentence, by_seed = slow_gains(first, second, 150, 7).var(ddof=1), ratios.var(ddof=1) / 3
    error = np.sqrt(by_sentence + by_seed)
    freedom = error**4 / (by_seed**2 / 2 + by_sentence**2 / 11)
    reach = stats.t.ppf(0.975, freedom) * error
    assert found.mean == pytest.approx(ratios.mean())
    np.testing.assert_allclose([found.low, found.high], [found.mean - reach, found.mean + reach], rtol=1e-9)
    assert (found.sd, found.n) == (pytest.approx(error), 12)


@pytest.mark.parametrize(("seeds", "most"), [(2, 0.15), (3, 0.09), (5, 0.09)])
def test_equal_models_seldom_differ(seeds, most):
    """Seeds that differ by two points, 400 sentences: about one in twenty; with two seeds one in nine."""
    chance, shows = np.random.default_rng(seeds), 0
    for _ in range(200):
        words = np.broadcast_to(chance.integers(5, 15, 400), (seeds, 400))
        sides = [
            np.stack([chance.binomial(words, np.clip(0.8 + chance.normal(0, 0.02, (seeds, 1)), 0, 1)), words])
            for _ in range(2)
        ]
        shows += paired_gain(*sides, resamples=100).sign != 0
    assert shows / 200 < most


@given(st.integers(1, 4), st.integers(1, 30), st.integers(0, 2**32))
def test_the_other_way_round_is_the_negative(seeds, sentences, seed):
    chance = np.random.default_rng(seed)
    first, second = counts(chance, seeds, sentences, 0.7), counts(chance, seeds, sentences, 0.5)
    one, other = (paired_gain(*sides, resamples=50) for sides in ((first, second), (second, first)))
    assert one.mean == pytest.approx(-other.mean)
    assert (one.low is None) == (other.low is None)
    if one.low is not None:
        np.testing.assert_allclose([one.low, one.high], [-other.high, -other.low], atol=1e-12)
        assert one.low <= one.high


def test_a_mean_ratio_is_its_gain_over_nothing_right():
    counts = np.random.default_rng(0).integers(0, 5, (2, 3, 40)) + np.array([0, 5])[:, None, None]
    assert mean_ratio(counts) == paired_gain(counts, counts * np.array([0, 1])[:, None, None])
    ratios = [above.sum() / below.sum() for above, below in zip(*counts, strict=True)]
    assert mean_ratio(counts).mean == pytest.approx(np.mean(ratios))


def test_a_model_gains_nothing_over_itself():
    side = counts(np.random.default_rng(1), 2, 20, 0.8)
    found = paired_gain(side, side)
    assert (found.mean, found.low, found.high) == (0, None, None)


def test_pairing_helps_and_seeds_count():
    """Sentences that are hard for both do not widen the interval; a seed that differs does."""
    hard = np.repeat([0, 10], 50)
    words = np.full((3, 100), 10.0)
    first = np.stack([np.broadcast_to(hard, (3, 100)) + np.array([[0], [0], [0]]), words])
    second = first.copy()
    second[0, :, :50] += 1  # one word more in each hard sentence
    close = paired_gain(second, first)
    assert close.sign == 1
    assert close.high - close.low < 0.03
    varied = second.copy()
    varied[0, 0] = 0  # one seed has failed
    assert paired_gain(varied, first).sign == 0


@pytest.mark.parametrize("shapes", [((2, 1, 3), (2, 1, 4)), ((2, 1, 0), (2, 1, 0)), ((2, 3), (2, 3))])
def test_sides_that_do_not_match_are_refused(shapes):
    with pytest.raises(ValueError, match="of the same seeds and sentences"):
        paired_gain(*(np.ones(shape) for shape in shapes))


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


def test_gains_are_rows_and_come_from_the_evaluations(encoder_folder, store):
    plan = compile_study(compared(encoder_folder))
    run_plan(plan, store, jobs=1)
    (step,) = [step for step in plan.steps.values() if isinstance(step, Compare)]
    (gain,) = store.rows(step.key)

    def accuracies(side):
        return [next(row.value for row in store.rows(one.key) if row.measure == "accuracy") for one in side]

    assert (gain.measure, gain.claim, gain.unit) == ("accuracy gain", "letters help", "share")
    assert gain.value == pytest.approx(np.mean(accuracies(step.first)) - np.mean(accuracies(step.second)))
    assert gain.low <= gain.value <= gain.high
    assert (gain.language, gain.dataset, gain.train_languages, gain.seed) == (
        "qah>world", "world:qah>world", "qaa", None,
    )  # fmt: skip
    kept = json.loads((store.result(step.first[0].key) / SENTENCES).read_text())
    right, words = (sum(part) for part in kept["accuracy"])
    assert right / words == accuracies(step.first[:1])[0]


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
