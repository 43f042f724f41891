"""Studies: what a declaration may say, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from babelscope.core.errors import InputError, StudyError
from babelscope.core.tasks import TASKS
from babelscope.core.validation import validate
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study, dump_study, load_study
from babelscope.study.encoders import Pretraining
from babelscope.world.world import VERSION
from command_line import declaration, transfer, within, write_study
from studies_in_text import MINIMAL, faults, loading, minimal


@pytest.fixture
def load(tmp_path: Path):
    return loading(tmp_path)


def test_defaults_are_filled_in(load):
    study = load(MINIMAL)
    pos = study.tasks["pos"]
    assert (study.seeds, pos.sizes.train, pos.tuning.epochs) == ((0, 1, 2), 1500, 6)


def test_all_faults_are_reported_at_once_each_with_its_path(load):
    text = """\
name: no spaces here
encoders: []
surgeries: [shave]
tasks:
  pos:
    evaluate: [world:qaa, 3]
    sizes: {train: 0, dev: many, test: 1.5}
    tuning: {learning_rate: -1, precision: float8, threads: 0, betas: [0.9], clip: .nan}
    baselines: [guess]
seeds: [1, -1]
measures: [{measure: retrieval, source: qaa, targets: []}]
world_seed: x
"""
    found = faults(load, text)
    assert {fault.split(":")[0] for fault in found} == {
        "name", "encoders", "surgeries.0.operations.0", "tasks.pos.train", "tasks.pos.evaluate.1",
        "tasks.pos.sizes.train", "tasks.pos.sizes.dev", "tasks.pos.sizes.test", "tasks.pos.tuning.learning_rate",
        "tasks.pos.tuning.precision", "tasks.pos.tuning.threads", "tasks.pos.tuning.betas.1", "tasks.pos.tuning.clip",
        "tasks.pos.baselines.0", "seeds.1", "measures.0.targets", "world_seed",
    }  # fmt: skip
    assert "tasks.pos.train: missing" in found
    number = "should be a whole number (given: 'many')"
    assert f"tasks.pos.sizes.dev: {number}" in found


FIELDS = set(Study.model_fields) - {"question"}


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_no_field_takes_anything(load, tmp_path, field):
    declared = declaration(tmp_path) | {field: {"unheard": 1}}
    text = write_study(tmp_path / "declared.yaml", declared).read_text(encoding="utf-8")
    assert all(fault.startswith(field) for fault in faults(load, text))


def test_an_unknown_key_is_named_with_the_allowed_ones(load):
    (fault,) = faults(load, MINIMAL + "sedes: [1]\n")
    assert fault.startswith(
        "sedes: unknown key (did you mean seeds?); allowed are contrasts, encoders, keep, left_out, measures,"
    )
    (fault,) = faults(load, minimal("sizes: {trian: 3}"))
    assert fault == "tasks.pos.sizes.trian: unknown key (did you mean train?); allowed are dev, test, train"
    (fault,) = faults(load, MINIMAL + "measures: [{measure: retrieval, source: qaa, targets: [qab], sentence: 1}]\n")
    assert (
        fault
        == "measures.0.sentence: unknown key (did you mean sentences?); allowed are measure, sentences, source, targets"
    )


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (
            "surgeries: [{name: s, operations: [{operation: drop, lats: 3, last: 1}]}]",
            "surgeries.0.operations.0.lats: unknown key (did you mean last?); allowed are every, last, layers, "
            "operation",
        ),
        (
            "surgeries: [{name: s, operations: [{operation: drop, drop: 3, last: 1}]}]",
            "surgeries.0.operations.0.drop: unknown key; allowed are every, last, layers, operation",
        ),
        (
            "surgeries: [{name: s, operations: [reverse, {operation: graft}]}]",
            "surgeries.0.operations.1.donor: missing",
        ),
        (
            "surgeries: [{name: s, operations: [{operation: shuffle, classes: ['(a{1']}]}]",
            "surgeries.0.operations.0.classes: '(a{1' is not a regular expression: missing ), unterminated subpattern "
            "at position 0 (given: ['(a{1'])",
        ),
        (
            "surgeries: [{name: s, operations: [{operation: turn}]}]",
            "surgeries.0.operations.0: no operation is named 'turn'; there are drop, graft, noise, oracle, permute, "
            "quantise, reinit, repeat, rescale, reverse, shuffle, transplant",
        ),
        (
            "schedules: [{name: s, strategy: {strategy: freeze, frees: 2, freeze: 1}}]",
            "schedules.0.strategy.frees: unknown key (did you mean freeze?); allowed are freeze, strategy",
        ),
        (
            "references: [{name: r, encoder: e, texts: [{language: qaa, sentences: 9}], tuning: {}, shape: {}}]",
            "references.0.shape: unknown key; allowed are encoder, masking, name, new_pieces, parallel, seed, "
            "sentences, texts, tuning",
        ),
    ],
)
def test_a_choice_among_kinds_is_named_as_the_file_does(load, given, fault):
    assert faults(load, f"{MINIMAL}{given}\n") == (fault,)


def test_a_task_may_be_named_as_a_key_is(load):
    text = MINIMAL.replace("pos: {", "probes: {task: pos, sizs: 1, ")
    assert faults(load, text)[0].startswith(
        "tasks.probes.sizs: unknown key (did you mean sizes?); allowed are baselines, encoders, entity_types,"
    )


def test_a_pretraining_spelled_out_has_one_line_a_fault(load):
    text = MINIMAL.replace("[e]", "[{name: p, texts: [{language: qaa, sentences: 9}], tuning: {step: 3}}]")
    (fault,) = faults(load, text)
    assert fault.startswith(
        "encoders.0.tuning.step: unknown key (did you mean steps?); allowed are batches, betas, bias_correction, clip,"
    )
    (fault,) = faults(load, MINIMAL.replace("[e]", "[3]"))
    assert fault.startswith("encoders.0: ") and "(given: 3)" in fault


def test_a_pretraining_can_be_declared(load):
    text = MINIMAL.replace("[e]", "[{name: p, texts: [{language: qaa, sentences: 9}], tuning: {steps: 3}}]")
    (encoder,) = load(text).encoders
    assert isinstance(encoder, Pretraining) and encoder.tuning.steps == 3


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"texts": []}, "texts: "),
        ({"texts": [{"language": "zzz", "sentences": 9}]}, "texts.0.language: the world has no language 'zzz'; there"),
        (
            {"texts": [{"language": "qaa", "sentences": 9, "world_version": 1}]},
            f"texts.0.world_version: this Babelscope makes version {VERSION} of the world; leave the version out",
        ),
        ({"shape": {"hidden": 64, "heads": 3}}, "shape: hidden=64 cannot be divided among heads=3; give a multiple"),
        ({"shape": {"dropout": 1}}, "shape.dropout: "),
        ({"masking": 0}, "masking: "),
        ({"masking": 1}, "masking: "),
        ({"name": ""}, "name: "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_pretraining_that_cannot_work_is_refused(load, tmp_path, change, fault):
    pretraining = {"name": "p", "texts": [{"language": "qaa", "sentences": 9}], "tuning": {"steps": 3}} | change
    text = write_study(tmp_path / "x.yaml", declaration(tmp_path, encoders=[pretraining])).read_text(encoding="utf-8")
    (found,) = faults(load, text)
    assert found.startswith(f"encoders.0.{fault}")


def test_a_study_without_a_condition_or_with_baselines_of_another_task_is_refused(load):
    (fault,) = faults(load, MINIMAL + "surgeries: []\n")
    assert fault.startswith("surgeries: ")
    (fault,) = faults(load, minimal("baselines: [word-majority]").replace("pos", "mlm"))
    assert fault.startswith("tasks: mlm: the baseline cannot be 'word-majority'; allowed: none, leave it out")
    (fault,) = faults(load, minimal("head: pooler"))
    assert fault.startswith("tasks: pos: the head cannot be 'pooler'; allowed: none, leave it out")
    (fault,) = faults(load, minimal("head: big").replace("pos", "parsing"))
    assert "the head cannot be 'big'; allowed: small, underspecified, align-then-predict" in fault
    (fault,) = faults(load, minimal("entity_types: {DATE: O}"))
    (fault,) = faults(load, MINIMAL.replace("pos", "dance"))
    assert fault.startswith("tasks: dance: the task cannot be 'dance'; allowed: mlm, pos, ")
    (fault,) = faults(load, minimal("entity_types: {DATE: O}"))
    assert fault.startswith("tasks: pos: entity_types are for ner; leave them out")


def test_two_durations_are_one_too_many(load):
    (fault,) = faults(load, minimal("tuning: {epochs: 1, steps: 2}"))
    assert fault.startswith("tasks.pos.tuning: ") and "give one of them" in fault


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tasks": {"pos": transfer(sizes={"train": 10**12})}}, "tasks.pos.train.0: .*1,000,000 are the most"),
        ({"tasks": {"pos": transfer(sizes={"test": 10**12})}}, "tasks.pos.evaluate.0: .*1,000,000 are the most"),
        ({"retrieval": {"source": "qaa", "targets": ["qab"], "sentences": 10**12}}, "less than or equal to 1000000"),
        ({"encoders": [{"name": "x", "texts": [{"language": "qaa", "sentences": 10**12}]}]}, "equal to 10000000"),
        ({"seeds": list(range(1000)), "surgeries": [f"noise:share={k}" for k in range(1, 1002)]}, "1,001,000 models"),
    ],
)
def test_more_than_memory_holds_is_refused_when_it_is_planned(encoder_folder, changes, problem):
    with within(20), pytest.raises(StudyError, match=problem):
        compile_study(validate(Study, declaration(encoder_folder) | changes, "test"))


def test_changes_replace_and_add_entries(load):
    study = load(MINIMAL, **{"seeds": [7], "tasks.pos.tuning.steps": 9, "tasks.pos.sizes.dev": 4})
    pos = study.tasks["pos"]
    assert (study.seeds, pos.tuning.steps, pos.sizes.dev, pos.sizes.train) == ((7,), 9, 4, 1500)
    with pytest.raises(InputError, match=r"--with name\.x: name is not a mapping"):
        load(MINIMAL, **{"name.x": 1})
    assert faults(load, MINIMAL, nope=1)[0].startswith("nope: unknown key; allowed are contrasts")
    text = MINIMAL + "measures: [{measure: retrieval, source: qaa, targets: [qab]}]\n"
    assert load(text, **{"measures.0.targets.0": "qac"}).measures[0].targets == ("qac",)
    for key in ("measures.1.source", "measures.one.source", "measures.0.targets.1"):
        with pytest.raises(InputError, match=rf"--with {key}: \w+ is no entry of the list, which has 1"):
            load(text, **{key: "qac"})
    with pytest.raises(InputError, match=r"--with measures\.9{91}: 9{100} is no entry"):
        load(text, **{f"measures.{'9' * 5000}": 1})


def test_a_training_set_that_is_given_twice_is_refused(load):
    """It would count twice in every epoch, and rows would say no more than its language twice."""
    (fault,) = faults(load, MINIMAL, **{"tasks.pos.train": ["world:qaa", "world:qab", "world:qaa"]})
    assert fault.startswith("tasks.pos.train: world:qaa is given twice; its examples would count twice in every epoch")


TEXT = st.characters(exclude_categories=["Cs"])


@settings(deadline=None, max_examples=50)
@example("a", "?", ["?0", "\x85", ":0", "a: b", "- x", "#", "null", "1e3"], [0], 1.0, [None], {}, "pos")
@given(
    name=st.from_regex(r"[a-zA-Z0-9_][a-zA-Z0-9_.-]*(@[a-zA-Z0-9_][a-zA-Z0-9_.-]*)?", fullmatch=True),
    question=st.text(TEXT),
    train=st.lists(st.text(TEXT, min_size=1), min_size=1, unique=True),
    seeds=st.lists(st.integers(0, 2**63 - 1), min_size=1, unique=True),
    rate=st.floats(min_value=0, exclude_min=True, allow_infinity=False),
    surgeries=st.lists(st.sampled_from([None, "reinit", "drop:last=2"]), min_size=1, unique=True),
    duration=st.sampled_from([{"epochs": 2}, {"steps": 5}, {}]),
    task=st.sampled_from(sorted(TASKS)),
)
def test_a_dumped_study_loads_as_the_same(
    tmp_path_factory, name, question, train, seeds, rate, surgeries, duration, task
):  # fmt: skip
    study = Study.model_validate(
        {
            "name": name,
            "question": question,
            "encoders": ["e", {"name": "p", "texts": [{"language": "qaa", "sentences": 9}], "tuning": duration}],
            "surgeries": surgeries,
            "tasks": {task: {"train": train, "evaluate": train[::-1], "tuning": {"learning_rate": rate, **duration}}},
            "seeds": seeds,
        }
    )
    path = tmp_path_factory.mktemp("law") / "study.yaml"
    path.write_text(dump_study(study), encoding="utf-8")
    assert load_study(path) == study


def test_a_seed_given_twice_is_refused(load):
    assert "given twice" in faults(load, MINIMAL + "seeds: [0, 1, 0]\n")[0]


@pytest.mark.parametrize(
    ("key", "given", "advice"),
    [
        ("train", "qaa", "its data are named world:qaa"),
        ("encoders", "world-naturl", "did you mean world-natural"),
        ("encoders", "all-MiniLM-L6-v3", r"did you mean all-MiniLM-L6-v2\?"),
    ],
)
def test_near_misses_get_the_right_name(load, key, given, advice):
    names = {"train": ["world:qaa"], "encoders": ["world-natural"], key: [given]}
    tasks = {"pos": {"train": names["train"], "evaluate": ["world:qaa"]}}
    with pytest.raises(StudyError, match=advice):
        compile_study(Study.model_validate({"name": "near", "encoders": names["encoders"], "tasks": tasks}))
