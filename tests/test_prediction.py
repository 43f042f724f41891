"""What a plan is expected to take, by what has run or by a calibration, also without an encoder's files or data."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from babelscope.core.errors import EncoderError, InputError
from babelscope.corpora.absent import sizes_in_place_of_files
from babelscope.corpora.datasets import find_file
from babelscope.encoders.folder import hidden_width, layer_count
from babelscope.encoders.footprint import SHAPES, Footprint
from babelscope.encoders.places import locate
from babelscope.encoders.shape import Shape
from babelscope.engine import expected
from babelscope.engine.calibration import Calibration, Rate, write_calibration
from babelscope.engine.expected import Estimate, estimates
from babelscope.engine.store import Store
from babelscope.engine.work import LEARNING, Texts, shape_in, work_of
from babelscope.face import prediction
from babelscope.face.doctor import LARGE_BATCH, VOCABULARY, Setting, rates
from babelscope.face.job import job_of, planned_job
from babelscope.face.prediction import Prediction, time_in_words
from babelscope.steps import Evaluate, Operate, Tune
from babelscope.steps.duration import PIECES_A_WORD, duration_of
from babelscope.steps.memory import memory_of, shape_of
from babelscope.steps.plan import Plan
from babelscope.studies.known_sizes import known_size
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import babelscope, declaration, transfer, write_study
from families import family_model
from toy_steps import Toy

pytestmark = pytest.mark.usefixtures("in_process")

PARAMETERS = {
    "mbert": 178e6, "distilmbert": 135e6, "xlm-r": 278e6, "xlm-r-large": 560e6, "mmbert-small": 140e6,
    "mmbert": 307e6, "minilm": 22.7e6, "bert": 109.5e6, "bert-large": 335e6,
}  # fmt: skip
"""As they were published."""


@pytest.fixture(autouse=True)
def _uncalibrated(tmp_path, monkeypatch):
    monkeypatch.setattr(prediction, "own_calibration", lambda: tmp_path / "no calibration")


# Operations


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert", "modernbert"])
def test_operations_are_those_that_torch_counts(family):
    model = family_model(family, layers=2, attn_implementation="eager")
    sizes = Footprint(2, 32, 2, 64, 90, gated=family == "modernbert")
    sentences, length = 3, 11
    pieces = torch.randint(5, 90, (sentences, length))
    with FlopCounterMode(display=False) as forward:
        loss = model(input_ids=pieces, labels=pieces).loss
    assert forward.get_total_flops() == sentences * length * sizes.forward(length, predicted=1)
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    assert forward.get_total_flops() + backward.get_total_flops() == LEARNING * forward.get_total_flops()


@pytest.mark.parametrize("name", SHAPES)
def test_known_shapes_have_as_many_weights_as_was_published(name):
    assert SHAPES[name].weights == pytest.approx(PARAMETERS[name], rel=0.02)


def test_every_known_shape_has_a_published_size():
    assert SHAPES.keys() == PARAMETERS.keys()


@given(
    st.lists(st.tuples(st.integers(1, 90), st.integers(1, 3)), min_size=1, max_size=4, unique_by=lambda pair: pair[0]),
    st.integers(1, 3),
)
def test_padding_is_to_the_longest_of_a_batch(lengths, batch):
    """Against the mean over all batches there can be."""
    lengths = sorted(lengths)
    pieces, counts = (np.array(column, dtype=float) for column in zip(*lengths, strict=True))
    texts = Texts(1000, pieces, counts / counts.sum())
    every = [length for length, count in lengths for _ in range(count)]
    longest = [max(chosen) for chosen in product(every, repeat=batch)]
    assert texts.longest_of(batch) == pytest.approx(np.mean(longest))
    assert texts.longest_of(10**6) <= max(every) + 1e-6
    assert texts.tokens == pytest.approx(1000 * np.mean(every))


def of_kind(plan: Plan, kind: type) -> list:
    return [step for step in plan.steps.values() if isinstance(step, kind)]


def compiled(encoder: Path | str, **changes) -> Plan:
    tasks = {"pos": transfer(baselines=[], **changes)}
    declared = declaration(encoder, tasks=tasks, retrieval=None, surgeries=[None, "drop:last=1"], seeds=[0])
    return compile_study(Study.model_validate(declared))


def test_a_step_reads_its_data_and_learns_from_it_epoch_by_epoch(encoder_folder):
    sizes = {"train": 30, "dev": 10, "test": 20}
    plan = compiled(encoder_folder, sizes=sizes, tuning={"epochs": 2, "examples_per_batch": 8, "max_length": 11})
    tune, score = of_kind(plan, Tune)[0], of_kind(plan, Evaluate)[0]

    def pieces(data):
        return [min(11, len(sentence.words) * PIECES_A_WORD + 2) for sentence in data.read()]

    work = work_of(score)
    assert work.tokens == pytest.approx(sum(pieces(score.data)))
    lengths = pieces(tune.train[0])
    learned = duration_of(tune).steps * 8 * work_of(tune).length
    assert max(lengths) >= work_of(tune).length > np.mean(lengths)
    assert work_of(tune).tokens == pytest.approx(3 * learned + 2 * sum(pieces(tune.dev[0])))


def test_the_shape_of_an_operated_encoder_has_the_layers_that_are_left(encoder_folder):
    tunings = of_kind(compiled(encoder_folder), Tune)
    whole, dropped = (shape_in(step) for step in sorted(tunings, key=lambda step: isinstance(step.encoder, Operate)))
    assert whole == shape_of(tunings[0].encoder) and dropped == whole._replace(layers=whole.layers - 1)
    tuning = tunings[0].tuning
    assert memory_of(tunings[0].encoder, tuning) > memory_of(tunings[1].encoder, tuning) > 0


# Hours


def made_up(monkeypatch, plan: Plan, seconds: dict[str, float], machine: str = "ours") -> None:
    """A store that has results of a plan which took so many seconds on a machine; `ours` is this one."""
    by_key = {key: plan.steps[key] for key in seconds}
    manifests = {key: {"step": type(step).__name__, "seconds": seconds[key]} for key, step in by_key.items()}
    monkeypatch.setattr(Store, "keys", lambda store: list(by_key))
    monkeypatch.setattr(Store, "published", lambda store, keys: set(keys) & set(by_key))
    monkeypatch.setattr(Store, "is_whole", lambda store, key: True)
    monkeypatch.setattr(Store, "manifest", lambda store, key: manifests[key])
    monkeypatch.setattr(expected, "recall", lambda store, key: by_key[key])
    monkeypatch.setattr(expected, "machine_in", lambda environment, device: machine)
    monkeypatch.setattr(expected, "this_machine", lambda device: "ours")


def test_steps_take_as_long_as_their_like_by_the_tokens_that_are_read(encoder_folder, tmp_path, monkeypatch):
    short = compiled(encoder_folder, sizes={"train": 20, "dev": 5, "test": 40})
    long = compiled(encoder_folder, sizes={"train": 60, "dev": 5, "test": 80})
    made_up(monkeypatch, short, {step.key: 4.0 for step in of_kind(short, Evaluate)})
    told = estimates(long, Store(tmp_path))
    assert {type(long.steps[key]) for key in told} == {Evaluate}, "no tuning has run"
    rate = 4.0 / work_of(of_kind(short, Evaluate)[0]).tokens
    whole = next(step for step in of_kind(long, Evaluate) if step.data.code == of_kind(short, Evaluate)[0].data.code)
    assert told[whole.key].seconds == pytest.approx(rate * work_of(whole).tokens, rel=0.1)
    assert told[whole.key].low <= told[whole.key].seconds <= told[whole.key].high
    assert told[whole.key].source == "finished steps of this machine"


def test_trainings_whose_weights_are_read_again_count(encoder_folder, tmp_path, monkeypatch):
    """They are there, but for the weights: another language is to be scored."""
    plan = compiled(encoder_folder)
    scores = of_kind(plan, Evaluate)
    made_up(monkeypatch, plan, {step.key: 3.0 for step in (*of_kind(plan, Tune), *scores[1:])})
    assert Prediction.of(plan, Store(tmp_path)).pending.keys() == {scores[0].key}
    monkeypatch.setattr(Store, "is_whole", lambda store, key: False)
    predicted = Prediction.of(plan, Store(tmp_path))
    assert predicted.pending.keys() == {scores[0].key, scores[0].model.key}
    assert predicted.expected[scores[0].model.key].seconds == pytest.approx(3.0, rel=0.5)


def test_steps_of_another_shape_say_nothing(encoder_folder, tmp_path, monkeypatch):
    plan = compiled(encoder_folder)
    whole, dropped = sorted(of_kind(plan, Tune), key=lambda step: isinstance(step.encoder, Operate))
    made_up(monkeypatch, plan, {whole.key: 3.0}, machine="theirs")
    assert dropped.key not in estimates(plan, Store(tmp_path))
    other = compiled(encoder_folder, tuning={"epochs": 9})
    told = estimates(other, Store(tmp_path))
    (longer,) = (step for step in of_kind(other, Tune) if not isinstance(step.encoder, Operate))
    assert told[longer.key].source == "finished steps of another machine"
    made_up(monkeypatch, plan, {whole.key: 3.0}, machine="")
    told = estimates(other, Store(tmp_path))
    assert told[longer.key].source == "finished steps, of which is not known on what machine"


def test_results_of_this_machine_count_before_others(encoder_folder, tmp_path, monkeypatch):
    plan = compiled(encoder_folder, evaluate=["world:qab", "world:qac", "world:qad"])
    first, second, third, *_ = (step for step in of_kind(plan, Evaluate) if not isinstance(step.model.encoder, Operate))
    made_up(monkeypatch, plan, {first.key: 2.0, second.key: 200.0})
    monkeypatch.setattr(Store, "environment", lambda store, manifest: manifest["seconds"])
    monkeypatch.setattr(expected, "machine_in", lambda seconds, device: "ours" if seconds < 10 else "theirs")
    assert estimates(plan, Store(tmp_path))[third.key].seconds < 10


def calibration(**changes) -> Calibration:
    rate = {"device": "cpu", "precision": "float32", "threads": 1, "width": 64, "operations": 1e9} | changes
    wide = rate | {"width": 768, "operations": 8e9}
    return Calibration.model_validate(
        {"processor": "Some CPU", "gpus": (), "date": "2026-01-02", "rates": (rate, wide)}
    )


def test_what_has_not_run_takes_as_long_as_the_calibration_has_it(tmp_path):
    plan = compiled("shape:mbert")
    told = estimates(plan, Store(tmp_path), calibration())
    assert told.keys() == plan.steps.keys()
    for key, step in plan.steps.items():
        operations = work_of(step).operations(shape_in(step))
        assert told[key] == Estimate(*[pytest.approx(operations / 8e9)] * 3, told[key].source)
    assert told[key].source == "the calibration of another machine (Some CPU, 2026-01-02)"
    assert estimates(plan, Store(tmp_path), calibration(device="cuda")) == {}
    assert estimates(plan, Store(tmp_path)) == {}


def test_the_doctor_keeps_operations_a_second():
    shape, setting = Shape(hidden=48, layers=3, heads=2, feed_forward=100), Setting("cuda", "float32", 1)
    (rate,) = rates(shape, {setting: 5000.0})
    forward = Footprint(3, 48, 2, 100, VOCABULARY).forward(LARGE_BATCH[1], predicted=1)
    assert rate == Rate(device="cuda", precision="float32", threads=1, width=48, operations=3 * 5000 * forward)


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 60), (2, 40), (3, 40)])
def test_by_the_clock_steps_share_jobs_and_wait_for_what_they_need(jobs, seconds):
    first = Toy(name="first", outside="")
    second = Toy(name="second", outside="", left=first)
    other = Toy(name="other", outside="")
    plan = Plan.of([second, other])
    told = dict.fromkeys(plan.steps, Estimate(20, 10, 40, "somewhere"))
    hours, sources, *_ = Prediction(plan, plan.steps, told, jobs).words
    by_the_clock = f"by the clock about {seconds} s with {jobs} jobs"
    assert hours == f"computing: about 60 s (30 s to 2 min): 60 s of cpu; {by_the_clock}"
    assert sources == "hours are from somewhere: 3 steps"


def test_a_kind_of_which_some_steps_are_known_says_how_many_are_not():
    plan = Plan.of([Toy(name=name, outside="") for name in ("first", "second", "third")])
    seconds = Estimate(20, 10, 40, "somewhere")
    for known, cell in (((), "not known"), ((0, 1), "40 s, 1 not known"), ((0, 1, 2), "60 s")):
        told = {key: seconds for place, key in enumerate(plan.steps) if place in known}
        (line,) = Prediction(plan, plan.steps, told, 1).lines
        assert line[4] == cell


def test_times_in_words():
    assert [time_in_words(seconds) for seconds in (0.2, 80, 150, 5000, 6000, 400_000)] == [
        "0 s", "80 s", "2 min", "83 min", "1.7 h", "111 h",
    ]  # fmt: skip


# Shapes alone


def test_a_shape_has_sizes_and_no_files():
    place = locate("shape:xlm-r-large")
    assert (layer_count(place.path), hidden_width(place.path)) == (24, 1024)
    with pytest.raises(EncoderError, match=r"shape:mbrt: no such shape \(did you mean mbert\?\)"):
        locate("shape:mbrt")


def test_a_study_of_a_shape_is_planned_and_refused_before_it_runs(tmp_path):
    write_calibration(calibration(), tmp_path / "node.json")
    study = write_study(tmp_path / "study.yaml", declaration("shape:mbert"))
    where = ("--store", tmp_path / "store")
    answer = babelscope("plan", study, *where, "--calibration", tmp_path / "node.json", "--jobs", 3)
    assert answer.status == 0, answer.errors
    assert "from the calibration of another machine (Some CPU, 2026-01-02)" in answer.output
    assert "with 3 jobs" in answer.output and "no hours for 2 Baseline" in answer.output
    answer = babelscope("run", study, *where)
    assert answer.status == 2 and "shape:mbert: a shape to plan with" in answer.errors
    assert not (tmp_path / "store").exists()


def test_a_file_that_is_no_calibration_is_refused(tmp_path):
    (tmp_path / "node.json").write_text("{}")
    study = write_study(tmp_path / "study.yaml", declaration("shape:mbert"))
    answer = babelscope("plan", study, "--store", tmp_path / "store", "--calibration", tmp_path / "node.json")
    assert answer.status == 2 and "processor: missing" in answer.errors


# Data that are not here


def test_data_that_are_not_here_have_the_sizes_that_are_known():
    asked = []
    with sizes_in_place_of_files(lambda name, split: asked.append(name) or known_size(name, split)):
        data = find_file("ner", "wikiann:de", "test")
        few = find_file("ner", "wikiann:de", "train", 300)
        with pytest.raises(InputError, match="wikiann:zz"):
            find_file("ner", "wikiann:zz", "test")
    assert (data.examples, few.examples, data.is_here) == (10_000, 300, False) and data.sha256 != few.sha256
    with pytest.raises(InputError, match="wikiann:de could not be fetched"):
        find_file("ner", "wikiann:de", "test")


def test_a_study_is_planned_without_its_data_and_does_not_run(tmp_path):
    named = {"train": ["wikiann:de"], "evaluate": ["wikiann:fr"]}
    everything = {"train": 10**6, "dev": 10**6, "test": 10**6}
    tasks = {"ner": transfer(baselines=[], sizes=everything, **named)}
    study = str(write_study(tmp_path / "study.yaml", declaration("shape:mbert", tasks=tasks, retrieval=None)))
    job = planned_job(study, None, tmp_path / "store")
    assert job.notes[0] == "not to be had here, so that known sizes are counted: wikiann:de, wikiann:fr"
    assert job.trainings()[1][0][1] == "20,000" and job.trainings()[1][0][4].startswith("~")
    with pytest.raises(InputError, match="could not be fetched"):
        job_of(study, None, tmp_path / "store")


def test_a_folder_of_data_that_is_none_is_refused_and_no_size_is_counted(monkeypatch, tmp_path):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path / "misspelt"))
    with sizes_in_place_of_files(known_size), pytest.raises(InputError, match=r"BABELSCOPE_DATA names .*misspelt"):
        find_file("ner", "wikiann:de", "test")
