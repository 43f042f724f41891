"""Plans: each step once, named by what determines its result and by nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.core import step as step_module
from babelscope.core.declaration import Declaration
from babelscope.core.errors import StudyError
from babelscope.core.hashing import digest
from babelscope.core.step import Step
from babelscope.steps import Evaluate, Load, Operate, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study, Transfer
from command_line import babelscope, declaration, transfer, write_study


@pytest.fixture(scope="session")
def keys(encoder_folder):
    """The set of keys of a tiny study with changes."""

    def keys(**changes: Any) -> set[str]:
        of_transfer = {key: changes.pop(key) for key in list(changes) if key in Transfer.model_fields}
        tasks = {"pos": transfer(**of_transfer)}
        declared = declaration(changes.pop("encoder", encoder_folder), tasks=tasks) | changes
        return set(compile_study(Study.model_validate(declared)).steps)

    return keys


def test_every_step_comes_once_and_after_its_inputs(encoder_folder):
    declared = declaration(encoder_folder, tasks={"pos": transfer(evaluate=["world:qab", "world:qab"])})
    plan = compile_study(Study.model_validate(declared))
    kinds = [type(step).__name__ for step in plan.steps.values()]
    # Two surgeries by two seeds; without an operation the encoder is the same for both seeds.
    assert {kind: kinds.count(kind) for kind in kinds} == {"Retrieve": 3, "Baseline": 1, "Tune": 4, "Evaluate": 4}
    done: set[str] = set()
    for key, step in plan.steps.items():
        assert key == step.key and {needed.key for needed in step.inputs} <= done
        done.add(key)


def test_an_evaluation_hangs_on_its_own_tuning(encoder_folder):
    plan = compile_study(Study.model_validate(declaration(encoder_folder)))
    for step in plan.steps.values():
        if isinstance(step, Evaluate):
            assert step.inputs == (step.model,)
            assert isinstance(plan.steps[step.model.key], Tune)
        if isinstance(step, Tune):
            encoder = step.encoder.encoder if isinstance(step.encoder, Operate) else step.encoder
            assert isinstance(encoder, Load) and step.inputs == ()


def test_an_evaluation_reads_the_very_tuning_of_the_plan(encoder_folder):
    """Its key is computed once, however many data sets it is scored on."""
    steps = compile_study(Study.model_validate(declaration(encoder_folder))).steps
    scored = [step for step in steps.values() if isinstance(step, Evaluate)]
    assert scored and all(step.model is steps[step.model.key] for step in scored)


class Share(Declaration):
    of: int | float


class Sharing(Step):
    share: Share


@pytest.mark.parametrize("values", [(1, 1.0), (1.0, 1), (0, False)])
def test_what_is_equal_but_written_otherwise_has_its_own_key(values):
    """Declarations that steps share are remembered, and not by their value."""
    steps = [Sharing(share=Share.model_construct(of=value)) for value in values]
    plain = [{"step": "Sharing", "version": 1, "fields": {"share": {"of": value}}} for value in values]
    assert [step.key for step in steps] == [digest(each) for each in plain]
    assert steps[0].key != steps[1].key and steps[0].share == steps[1].share


PLAIN_VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
NESTED_VALUES = st.recursive(
    PLAIN_VALUES,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.dictionaries(st.integers() | st.booleans(), inner, max_size=3)
        | inner.map(lambda of: Share.model_construct(of=of))
    ),
    max_leaves=6,
)


def plain(value: Any) -> Any:
    """What JSON holds of a value: the slow and obvious way."""
    if isinstance(value, Share):
        return {"of": plain(value.of)}
    if isinstance(value, tuple):
        return [plain(inside) for inside in value]
    return {name: plain(inside) for name, inside in value.items()} if isinstance(value, dict) else value


@given(NESTED_VALUES)
def test_a_key_is_the_digest_of_what_is_declared(value):
    fields = {"share": {"of": plain(value)}}
    step = Sharing(share=Share.model_construct(of=value))
    assert step.key == digest({"step": "Sharing", "version": 1, "fields": fields})


def test_more_declarations_than_are_kept_have_their_own_keys(monkeypatch):
    monkeypatch.setattr(step_module, "MOST_KEPT", 3)
    keys = {Sharing(share=Share(of=number)).key for number in range(20)}
    assert len(keys) == 20 and len(step_module._TEXTS) <= 3


@pytest.mark.parametrize("hashing", ["0", "1", "random"])
def test_keys_are_the_same_in_every_process(encoder_folder, keys, hashing):
    code = (
        "import json, sys; from babelscope.study.compile import compile_study; "
        "from babelscope.study.declare import Study; "
        "print(json.dumps(list(compile_study(Study.model_validate(json.loads(sys.argv[1]))).steps)))"
    )
    command = [sys.executable, "-c", code, json.dumps(declaration(encoder_folder))]
    answer = subprocess.run(
        command, env={**os.environ, "PYTHONHASHSEED": hashing}, capture_output=True, text=True, check=True
    )
    assert set(json.loads(answer.stdout)) == keys()


def test_names_questions_and_places_are_not_in_the_keys(keys, encoder_folder, tmp_path):
    elsewhere = tmp_path / encoder_folder.parent.name / encoder_folder.name
    shutil.copytree(encoder_folder, elsewhere)
    assert keys(encoder=elsewhere) == keys()
    assert keys(name="other", question="Why?") == keys()
    assert keys(evaluate=["world:qab", "world:qaa"], seeds=[1, 0], surgeries=["reinit", None]) == keys()


def shared(one: set[str], other: set[str]) -> int:
    return len(one & other)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"tuning": {"learning_rate": 1e-3, "epochs": 2, "precision": "bfloat16"}}, 5),
        ({"tuning": {"learning_rate": 1e-3, "epochs": 2, "threads": 2}}, 5),
        ({"tuning": {"learning_rate": 1e-3, "epochs": 3}}, 5),
        ({"tuning": {"learning_rate": 1e-3, "epochs": 2, "device": "cuda"}}, 5),
        ({"sizes": {"train": 31, "dev": 10, "test": 10}}, 3),
        ({"sizes": {"train": 30, "dev": 11, "test": 10}}, 5),
        ({"sizes": {"train": 30, "dev": 10, "test": 11}}, 3 + 4),
        ({"train": ["world:qab"]}, 3),
        ({"seeds": [2, 3]}, 3),
        ({"world_seed": 1}, 0),
        ({"retrieval": {"source": "qaa", "targets": ["qab"], "sentences": 11}}, 2 + 4 + 8),
    ],
    ids=str,
)
def test_what_can_change_a_number_changes_the_key(keys, change, kept):
    """Of 3 retrievals, 2 baselines, 4 tunings and 8 evaluations only those are kept that the change cannot touch."""
    assert len(keys()) == 17
    changed = keys(**change)
    assert len(changed) == 17
    assert shared(changed, keys()) == kept


def test_another_task_shares_the_retrievals(keys):
    assert shared(keys(tasks={"mlm": transfer(baselines=[])}), keys()) == 3


def test_other_weights_of_the_same_name_have_other_keys(keys, encoder_folder, tmp_path):
    elsewhere = tmp_path / encoder_folder.parent.name / encoder_folder.name
    shutil.copytree(encoder_folder, elsewhere)
    weights = elsewhere / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert shared(keys(encoder=elsewhere), keys()) == 2, "only the baselines read no encoder"


def test_other_data_of_the_same_name_has_other_keys(keys, tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    folder = tmp_path / "ud" / "UD_French-X"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (folder / f"fr_x-ud-{split}.conllu").write_text("1\tVa\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    before = keys(train=["UD_French-X"])
    (folder / "fr_x-ud-dev.conllu").write_text("1\tVont\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    assert shared(keys(train=["UD_French-X"]), before) == 5, "only retrieval and baselines do not read the dev set"


PARTS = st.fixed_dictionaries(
    {
        "seeds": st.sets(st.integers(0, 3), min_size=1),
        "surgeries": st.sets(st.sampled_from([None, "reinit"]), min_size=1),
        "evaluate": st.sets(st.sampled_from(["world:qaa", "world:qab", "world:qac"]), min_size=1),
    }
)


@settings(deadline=None, max_examples=50)
@given(PARTS, PARTS)
def test_two_studies_share_exactly_the_steps_of_what_they_have_in_common(keys, one, other):
    def of(parts: dict[str, set[Any]]) -> set[str]:
        return keys(**{name: list(part) for name, part in parts.items()}, retrieval=None)

    common = {name: one[name] & other[name] for name in one}
    expected = len(common["evaluate"]) + (1 + len(common["evaluate"])) * len(common["seeds"]) * len(common["surgeries"])
    assert shared(of(one), of(other)) == expected


def test_all_that_is_missing_is_reported_at_once(encoder_folder):
    declared = declaration(
        encoder_folder, encoders=["./nowhere"], retrieval={"source": "qaa", "targets": ["qyy"]},
        tasks={"pos": transfer(train=["world:qzz"], evaluate=["world:qaa", "world:english"])},
    )  # fmt: skip
    with pytest.raises(StudyError) as caught:
        compile_study(Study.model_validate(declared))
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "encoders.0", "tasks.pos.train.0", "tasks.pos.evaluate.1", "measures.0.targets.0",
    ]  # fmt: skip
    assert "the world has no language 'qzz'; there are qaa, " in str(caught.value)


def test_two_encoders_of_one_name_are_refused(encoder_folder, tmp_path):
    other = tmp_path / encoder_folder.parent.name / encoder_folder.name
    shutil.copytree(encoder_folder, other)
    declared = declaration(encoder_folder, encoders=[str(encoder_folder), str(other)])
    assert len(compile_study(Study.model_validate(declared)).steps) == 17, "the same content is the same encoder"
    (other / "config.json").write_text((other / "config.json").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        compile_study(Study.model_validate(declared))
    (fault,) = caught.value.faults
    assert fault.startswith("encoders.1: rows would name both ")
    assert str(encoder_folder) in fault and str(other) in fault and "rename one" in fault


def test_an_encoder_is_not_named_like_a_baseline_or_another_pretraining():
    def pretraining(seed: int, name: str) -> dict[str, Any]:
        return {"name": name, "texts": [{"language": "qaa", "sentences": 9}], "tuning": {"steps": 1}, "seed": seed}

    encoders = [pretraining(0, "one"), pretraining(1, "one"), pretraining(2, "most-frequent-tag")]
    with pytest.raises(StudyError) as caught:
        compile_study(Study.model_validate(declaration("", encoders=encoders)))
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["encoders.1", "encoders.2"]
    assert "the pre-training encoders.0" in caught.value.faults[0]
    assert "the baseline most-frequent-tag" in caught.value.faults[1]


@pytest.mark.parametrize(
    ("module", "extra", "changes"),
    [
        ("peft", "lora", {"schedules": ["freeze:0,lora=2"]}),
        ("openTSNE", "tsne", {"projection": {"source": "qaa", "targets": ["qab"], "pairs": 9, "library": "openTSNE"}}),
    ],
)
def test_a_library_that_is_not_there_is_named_before_computing(
    encoder_folder, tmp_path, monkeypatch, module, extra, changes
):
    monkeypatch.setitem(sys.modules, module, None)
    study = write_study(tmp_path / "study.yaml", declaration(encoder_folder, **changes))
    assert babelscope("plan", study, "--store", tmp_path / "store").status == 0
    answer = babelscope("run", study, "--store", tmp_path / "store", "--jobs", 1)
    assert answer.status == 2 and f"{module} is not installed: pip install 'babelscope[{extra}]'" in answer.errors
    assert not list((tmp_path / "store").glob("results/*"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_device_that_is_not_there_is_refused_before_computing(encoder_folder, tmp_path):
    declared = declaration(encoder_folder, tasks={"pos": transfer(tuning={"epochs": 1, "device": "cuda"})})
    path = write_study(tmp_path / "study.yaml", declared)
    assert babelscope("plan", path, "--store", tmp_path / "store").status == 0
    answer = babelscope("run", path, "--store", tmp_path / "store")
    assert answer.status == 2 and "device cuda: torch sees none here; give cpu, or auto" in answer.errors
    assert not (tmp_path / "store").exists()


def test_a_surgery_is_done_on_the_encoders_it_names_with_donors_of_the_study_or_from_elsewhere(encoder_folder):
    def pretraining(name: str) -> dict[str, Any]:
        return {"name": name, "texts": [{"language": "qaa", "sentences": 9}], "tuning": {"steps": 1}}

    encoders = [pretraining("one"), pretraining("other")]
    surgeries = [
        None,
        "reverse",
        {"name": "swapped", "operations": ["transplant:donor=other", "drop:last=1"], "encoders": ["one"]},
        {"name": "grafted", "operations": [f"graft:donor={encoder_folder}"], "encoders": ["other"]},
    ]
    declared = declaration("", encoders=encoders, surgeries=surgeries, retrieval=None)
    plan = compile_study(Study.model_validate(declared))
    tuned = [step for step in plan.steps.values() if isinstance(step, Tune)]
    conditions = [(step.labels["encoder"], step.labels.get("surgery"), step.seed) for step in tuned]
    names = ("one", "other")
    wanted = [(name, surgery, seed) for name in names for surgery in (None, "reverse") for seed in (0, 1)]
    wanted += [(name, surgery, seed) for name, surgery in (("one", "swapped"), ("other", "grafted")) for seed in (0, 1)]
    assert sorted(map(str, conditions)) == sorted(map(str, wanted))
    operated = {step.labels["surgery"]: step.encoder for step in tuned if isinstance(step.encoder, Operate)}
    donor = operated["swapped"].donors[0]
    assert donor.labels == {"encoder": "other"} and donor in operated["swapped"].inputs

    def changed(step: Any, **changes: Any) -> Any:
        return type(step)(**{name: getattr(step, name) for name in type(step).model_fields} | changes)

    other = changed(operated["swapped"], donors=(changed(donor, seed=7),))
    assert other.key != operated["swapped"].key
    assert isinstance(operated["grafted"].donors[0], Load)
    assert {step.encoder.key for step in tuned if step.labels.get("surgery") == "reverse"} and all(
        step.encoder.seed == 0 for step in tuned if step.labels.get("surgery") == "reverse"
    ), "chance has no part in it"


def test_surgeries_of_unknown_encoders_and_donors_are_refused(encoder_folder):
    surgeries = [
        {"name": "a", "operations": ["reverse"], "encoders": ["nobody"]},
        {"name": "b", "operations": ["transplant:donor=./nowhere"]},
    ]
    with pytest.raises(StudyError) as caught:
        compile_study(Study.model_validate(declaration(encoder_folder, surgeries=surgeries)))
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["surgeries.0.encoders", "surgeries.1"]
    assert f"there are {encoder_folder.parent.name}/{encoder_folder.name}" in caught.value.faults[0]


def test_what_is_trained_on_is_not_tested_on(tmp_path, monkeypatch, encoder_folder):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    (tmp_path / "xnli").mkdir()
    lines = [f"premise {k // 3}\thypothesis {k}\t{k % 3}\n" for k in range(30)]
    (tmp_path / "xnli" / "xnli-es-original.tsv").write_text("premise\thypothesis\tlabel\n" + "".join(lines), "utf-8")
    name = ["xnli:es-original"]
    tasks = {"xnli": transfer(train=name, evaluate=name, baselines=[])}
    with pytest.raises(StudyError, match=r"tasks\.xnli\.evaluate\.0: .* is the file that is trained or selected on"):
        compile_study(Study.model_validate(declaration(encoder_folder, tasks=tasks)))
