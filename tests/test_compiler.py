"""What a study is refused for before anything is computed, and what is not refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from babelscope.core.errors import InputError, StudyError
from babelscope.encoders.heads import has_mlm_head
from babelscope.encoders.load import load_encoder, save_encoder
from babelscope.measures.cost import Cost
from babelscope.measures.probing import Probe
from babelscope.steps import Tune
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from command_line import declaration, transfer
from families import DECODERS, FAMILIES, family_model

NATIVE = {
    "name": "native", "texts": [{"language": "qab", "sentences": 9}], "tuning": {"steps": 1},
    "shape": {"hidden": 16, "layers": 2, "feed_forward": 16},
}  # fmt: skip
PROBES = {"perplexity": {"all": ["world:qaa"]}, "distance": {"all": ["world:qaa"]}}


def study(folder: Path | str, **changes: Any) -> Study:
    base = declaration(folder, encoders=[str(folder)], surgeries=[None], seeds=[0], retrieval=None)
    return Study.model_validate(base | {"tasks": {"pos": transfer(baselines=[], probes=PROBES)}} | changes)


def faults(*given: Any, **changes: Any) -> list[str]:
    with pytest.raises(StudyError) as caught:
        compile_study(study(*given, **changes))
    return list(caught.value.faults)


@pytest.fixture(scope="module")
def headless(tmp_path_factory, encoder_folder) -> Path:
    encoder, folder = load_encoder(encoder_folder), tmp_path_factory.mktemp("compiler") / "headless"
    save_encoder(replace(encoder, model=encoder.backbone), folder)
    return folder


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("text") / "text.txt"
    file.write_text("".join(f"sentence {line}\n" for line in range(20)), encoding="utf-8")
    return f"text:qab:{file}"


def test_a_text_is_trained_and_scored_on_parts_of_one_file(encoder_folder, text):
    tasks = {"mlm": {"train": [text], "evaluate": [text, "world:qaa"]}}
    plan = compile_study(study(encoder_folder, tasks=tasks))
    (train,), (test, _) = (
        next(step.train for step in plan.steps.values() if hasattr(step, "train")),
        [step.data for step in plan.steps.values() if hasattr(step, "data")],
    )
    assert (train.split, test.split) == ("train", "test") and not {*train.read()} & {*test.read()}


def test_references_must_be_told_apart(encoder_folder):
    assert faults(encoder_folder, references=[NATIVE, NATIVE | {"seed": 1}]) == [
        "references.1: rows would name both the pre-training references.1 and the pre-training references.0 native, "
        "and mix them; rename one",
    ]
    assert faults(encoder_folder, references=[NATIVE, NATIVE]) == ["references.1: native is given twice"]
    (start,) = faults(encoder_folder, references=[NATIVE | {"name": "start"}])
    assert start == "references.0: probes call each encoder before training 'start'; rename it"
    same = faults(encoder_folder, encoders=[NATIVE], references=[NATIVE | {"seed": 1}])
    assert any("the pre-training encoders.0 native" in fault for fault in same)


def test_an_encoder_may_be_its_own_reference(encoder_folder):
    plan = compile_study(study(encoder_folder, references=[str(encoder_folder)]))
    (model,) = {step for step in plan.steps.values() if isinstance(step, Tune)}
    assert model.references == (model.encoder,)


def test_references_need_probes_that_use_them(encoder_folder):
    tasks = {"pos": transfer(baselines=[], probes={"scores": ["world:qaa"]})}
    (fault,) = faults(encoder_folder, references=[NATIVE], tasks=tasks)
    assert fault.startswith("references: no task has probes of perplexity or distance")


def test_references_are_as_deep_as_the_encoders_that_are_compared(encoder_folder):
    deep = NATIVE | {"shape": NATIVE["shape"] | {"layers": 5}}
    (fault,) = faults(encoder_folder, references=[deep])
    assert "native has 5 layers, but" in fault
    tasks = {"pos": transfer(baselines=[], probes={"perplexity": PROBES["perplexity"]})}
    compile_study(study(encoder_folder, references=[deep], tasks=tasks))


@pytest.mark.parametrize("task", ["mlm", "pos"])
def test_what_needs_a_head_is_refused_without_one_and_told_of_adaptation(task, headless):
    tasks = {task: {"train": ["world:qaa"], "evaluate": ["world:qaa"], "probes": PROBES}}
    (fault,) = faults(headless, tasks=tasks)
    assert fault.startswith("encoders.0: ") and "no masked language model head" in fault and "adaptation" in fault
    adapted = {"name": "adapted", "encoder": str(headless), "texts": NATIVE["texts"], "tuning": {"steps": 1}}
    compile_study(study(headless, encoders=[adapted], tasks=tasks))
    (fault,) = faults(headless, encoders=[adapted], references=[str(headless)], tasks=tasks)
    assert fault.startswith("references.0: ")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_head_is_seen_from_the_names_of_weights(family, tokenizer, tmp_path):
    model = family_model(family)
    model.save_pretrained(tmp_path / "whole")
    assert has_mlm_head(str(tmp_path / "whole")) is (family not in DECODERS)
    model.base_model.save_pretrained(tmp_path / "backbone")
    assert has_mlm_head(str(tmp_path / "backbone")) is False
    assert has_mlm_head(str(tmp_path)) is None


def test_an_encoder_is_adapted_from_one_before_it_by_any_of_its_names(encoder_folder):
    adapted = {"name": "adapted", "encoder": "native", "texts": NATIVE["texts"], "tuning": {"steps": 1}}
    plan = compile_study(study(encoder_folder, encoders=[NATIVE, adapted]))
    assert any(step.labels["encoder"] == "adapted" for step in plan.steps.values() if hasattr(step, "labels"))
    (fault,) = faults(encoder_folder, encoders=[adapted, NATIVE])
    assert fault == "encoders.0.encoder: native is not made before this one; declare it first"
    (fault,) = faults(encoder_folder, encoders=[NATIVE | {"texts": ["ntrex:zzz"]}, adapted])
    assert fault.startswith("encoders.0.texts.0: ")  # and nothing of the one that is made of it
    named_as_in_rows = adapted | {"encoder": "/".join(encoder_folder.parts[-2:])}
    compile_study(study(encoder_folder, encoders=[str(encoder_folder), named_as_in_rows]))


def test_schedules_are_checked_against_encoders_as_they_are_tuned(encoder_folder):
    layers = load_encoder(encoder_folder).model.config.num_hidden_layers
    deep = f"freeze:{layers + 1}"
    compile_study(study(encoder_folder, surgeries=["repeat:layers=0,times=2"], schedules=[deep]))
    (fault,) = faults(encoder_folder, surgeries=["reverse"], schedules=[deep])
    assert f"freezes the first {layers + 1} layers" in fault


def test_runs_whose_steps_are_known_are_long_enough_for_their_schedules(encoder_folder):
    """Also where they are those of so many examples."""
    given = {"surgeries": [None], "schedules": [{"name": "slow", "gradual": 2, "every": 4}]}
    for tuning, steps in (({"epochs": 2}, 4), ({"epochs": 3}, 6)):
        tasks = {"pos": transfer(baselines=[], tuning=tuning | {"examples_per_batch": 8}, sizes={"train": 16})}
        declared = given | {"tasks": tasks}
        if steps > 4:
            compile_study(study(encoder_folder, **declared))
            continue
        (fault,) = faults(encoder_folder, **declared)
        assert (
            fault.startswith("schedules.0: schedule slow: 2 groups")
            and f"are not all trained in {steps} steps" in fault
        )


def test_full_batches_of_more_examples_than_there_are_of_a_language_are_refused(encoder_folder):
    def drawn(fewest: int) -> dict[str, Any]:
        sizes, batches = {"train": [16, fewest]}, {"batches": "drawn", "examples_per_batch": 8}
        both = transfer(baselines=[], train=["world:qaa", "world:qab"], sizes=sizes, tuning={"epochs": 1} | batches)
        return {"tasks": {"pos": both}, "surgeries": [None]}

    compile_study(study(encoder_folder, **drawn(8)))
    (fault,) = faults(encoder_folder, **drawn(7))
    assert fault.startswith("tasks.pos.tuning: batches: drawn has full batches, but of one of the training languages")


def test_an_empty_name_and_a_single_point_are_refused(encoder_folder):
    (fault,) = faults(encoder_folder, encoders=[" "])
    assert fault == "encoders.0: an encoder's name is empty"
    single = {"measure": "projection", "source": "qaa", "targets": ["qab"], "pairs": 1}
    with pytest.raises(ValueError, match=r"pairs\s+Input should be greater than or equal to 2"):
        study(encoder_folder, measures=[single])


def test_references_are_probed_as_tunings_are(encoder_folder):
    tasks = {"pos": transfer(baselines=[], probes=PROBES, tuning={"max_length": 9})}
    plan = compile_study(study(encoder_folder, references=[NATIVE], tasks=tasks))
    assert [step.max_length for step in plan.steps.values() if isinstance(step, Probe)] == [9]


def test_parameters_that_a_profile_has_no_use_for_are_refused():
    with pytest.raises(InputError, match="native: evolution@world has no use for it here"):
        find_study("evolution", {"native": "bert-base-cased"})
    with pytest.raises(InputError, match="steps: evolution@paper has no use for it here"):
        find_study("evolution@paper", {"steps": 9})
    with pytest.raises(InputError, match="the world has no language 'qzz'"):
        find_study("evolution", {"target": "qzz"})
    assert find_study("evolution", {"steps": 9, "target": "qah"}).references[0].tuning.steps == 9


def test_contrasts_are_of_conditions_that_are_scored(encoder_folder):
    name = "/".join(encoder_folder.parts[-2:])

    def contrasted(first: dict[str, Any], second: dict[str, Any], **changes: Any) -> dict[str, Any]:
        contrasts = [{"claim": "better", "first": {"encoder": name} | first, "second": {"encoder": name} | second}]
        return {"contrasts": contrasts, "surgeries": [None, "reverse", "reinit"]} | changes

    found = faults(encoder_folder, **contrasted({"surgery": "nope"}, {"encoder": "nobody"}))
    assert found == [
        f"contrasts.0.first.surgery: {name} is not scored under nope; it is under null, reverse, reinit",
        f"contrasts.0.second.encoder: no encoder or baseline that is scored is named nobody; there are {name}",
    ]
    (same,) = faults(encoder_folder, **contrasted({"surgery": "reverse"}, {"surgery": "reverse"}))
    assert same == "contrasts.0: first and second are the same condition; give different ones"
    declared = contrasted({}, {"surgery": "reverse"})
    declared["contrasts"][0] |= {"tasks": ["ner"], "languages": ["qaz"]}
    assert [fault.partition(";")[0] for fault in faults(encoder_folder, **declared)] == [
        "contrasts.0.tasks: 'ner' is not scored",
        "contrasts.0.languages: 'qaz' is not scored",
    ]
    declared = contrasted({}, {"surgery": "reverse"}, tasks={"mine": transfer(task="pos")})
    declared["contrasts"][0] |= {"tasks": ["mine"]}
    (own,) = faults(encoder_folder, **declared)
    assert own == "contrasts.0.tasks: rows have no 'mine', which is this study's own name, but that of its task, pos"
    (never,) = faults(encoder_folder, **contrasted({"surgery": "reverse"}, {}, surgeries=["reverse"]))
    assert never == f"contrasts.0.second.surgery: {name} is not scored under null; it is under reverse"
    tasks = {"pos": transfer(baselines=["most-frequent-tag"])}
    compile_study(study(encoder_folder, **contrasted({}, {"encoder": "most-frequent-tag"}, tasks=tasks)))


def test_contrasts_are_of_schedules_of_the_study(encoder_folder):
    name = "/".join(encoder_folder.parts[-2:])

    def contrasted(first: dict[str, Any], second: dict[str, Any], *schedules: str | None) -> dict[str, Any]:
        contrasts = [{"claim": "better", "first": {"encoder": name} | first, "second": {"encoder": name} | second}]
        tasks = {"pos": transfer(baselines=["most-frequent-tag"])}
        return {"contrasts": contrasts, "schedules": schedules or (None, "freeze:1"), "tasks": tasks}

    frozen, baseline = {"schedule": "freeze:1"}, {"encoder": "most-frequent-tag"}
    for sides in ((frozen, {}), ({}, frozen), (frozen, baseline)):
        compile_study(study(encoder_folder, **contrasted(*sides)))
    for said, given in {
        "'freeze:0' is no schedule of the study (did you mean freeze:1?); there are null, freeze:1": contrasted(
            frozen, {"schedule": "freeze:0"}
        ),
        "'null' is no schedule of the study; there are null, freeze:1": contrasted(frozen, {"schedule": "null"}),
        "the other side names a schedule; name this side's, too. There are freeze:0, freeze:1": contrasted(
            frozen, {}, "freeze:0", "freeze:1"
        ),
        "most-frequent-tag is a baseline, and has no schedule; leave it out": contrasted({}, baseline | frozen),
    }.items():
        assert faults(encoder_folder, **given) == [f"contrasts.0.second.schedule: {said}"]
    recurrent = contrasted({}, {"encoder": "bilstm"}, "freeze:0", "freeze:1")
    recurrent["tasks"] = {"pos": transfer(baselines=["bilstm"])}
    (alone,) = faults(encoder_folder, **recurrent)
    problem = "bilstm is trained without a schedule, and no encoder of the study is"
    assert alone == f"contrasts.0.second: {problem}; name the other side's schedule, or add null to schedules"
    compile_study(study(encoder_folder, **recurrent | {"schedules": (None, "freeze:1")}))
    two = contrasted({"encoder": "bilstm"}, baseline, "freeze:0")
    compile_study(
        study(encoder_folder, **two | {"tasks": {"pos": transfer(baselines=["bilstm", "most-frequent-tag"])}})
    )
    (same,) = faults(encoder_folder, **contrasted(frozen, frozen))
    assert same == "contrasts.0: first and second are the same condition; give different ones"


def test_a_surgery_that_is_meant_for_others_is_no_condition_of_an_encoder(encoder_folder):
    surgery = {"name": "turned", "operations": ["reverse"], "encoders": ["native"]}
    condition = {"encoder": "/".join(encoder_folder.parts[-2:])}
    contrast = {"claim": "better", "first": condition, "second": condition | {"surgery": "turned"}}
    (fault,) = faults(
        encoder_folder, encoders=[str(encoder_folder), NATIVE], surgeries=[None, surgery], contrasts=[contrast]
    )
    assert fault.startswith("contrasts.0.second.surgery: ") and fault.endswith(
        "not scored under turned; it is under null"
    )


def test_costs_are_of_surgeries_of_the_study(encoder_folder):
    costs = {"measure": "cost", "surgeries": ["reverse", "zzz"]}
    (fault,) = faults(encoder_folder, surgeries=[None, "reverse"], measures=[costs])
    assert fault == "measures.0.surgeries.1: no surgery is named zzz; there are reverse"


def native(**shape: int) -> dict[str, Any]:
    return NATIVE | {"shape": NATIVE["shape"] | shape}


@pytest.mark.parametrize(
    ("operations", "problem"),
    [
        (["reinit:layers=12"], "reinit:layers=12: layer 12: native has 2 layers, 0 to 1"),
        (["permute:order=0"], "permute:order=0: order 0 must have each of the 2 layers of native once, 0 to 1"),
        (["drop:last=2"], "drop:last=2: native has 2 layers; drop one at least, and keep one at least"),
        (["drop:last=1", "noise:layers=1"], "noise:layers=1: layer 1: native after drop:last=1 has 1 layers, 0 to 0"),
        (["repeat", "drop:layers=4"], "drop:layers=4: layer 4: native after repeat has 4 layers, 0 to 3"),
        (
            ["transplant:donor=wide"],
            "transplant:donor=wide: the donor's embeddings have 32 dimensions, the encoder's 16; give bridge=random or "
            "bridge=least-squares, or keep shared tokens with rows=overlap",
        ),
    ],
)
def test_surgeries_that_an_encoder_cannot_have_are_refused(encoder_folder, operations, problem):
    wide = native(hidden=32) | {"name": "wide"}
    surgery = {"name": "it", "operations": operations, "encoders": ["native"]}
    encoders = {"encoders": [NATIVE, wide], "tasks": {"pos": transfer(baselines=[])}}
    assert faults(encoder_folder, surgeries=[None, surgery], **encoders) == [f"surgeries.1: operation {problem}"]


def test_surgeries_that_an_encoder_can_have_are_not_refused(encoder_folder):
    fit = ["repeat;drop:layers=3", "drop:last=1;noise:layers=0", "permute", "permute:order=1+0"]
    fit += [f"transplant:donor={encoder_folder},{how}" for how in ("bridge=random", "rows=overlap")]
    surgeries = [{"name": one, "operations": one.split(";")} for one in [*fit, f"transplant:donor={encoder_folder}"]]
    for encoder, given in ((NATIVE, surgeries[:-1]), (native(hidden=32), surgeries)):
        plan = compile_study(study(encoder_folder, encoders=[encoder], surgeries=given))
        tuned = {step.encoder.surgery for step in plan.steps.values() if isinstance(step, Tune)}
        assert tuned == {surgery["name"] for surgery in given}


def test_schedules_are_held_against_the_layers_that_surgery_leaves(encoder_folder):
    surgeries = ["drop:last=1", "repeat"]
    (fault,) = faults(encoder_folder, surgeries=surgeries, schedules=["freeze:1", "freeze:2"])
    assert fault.startswith("schedules.1: schedule freeze:2: it freezes the first 2 layers, but the encoder has 1;")
    plan = compile_study(study(encoder_folder, surgeries=surgeries[1:], schedules=["freeze:4"]))
    assert any(isinstance(step, Tune) for step in plan.steps.values())


def test_what_chance_has_no_part_in_is_timed_once(encoder_folder):
    operations = {
        "taken": [f"transplant:donor={encoder_folder}"],
        "drawn": [f"transplant:donor={encoder_folder},rows=overlap"],
        "ordered": ["permute:order=1+0"],
    }
    surgeries = [{"name": name, "operations": given} for name, given in operations.items()]
    measures = [{"measure": "cost", "surgeries": list(operations)}]
    plan = compile_study(study(encoder_folder, surgeries=surgeries, measures=measures, seeds=[0, 1]))
    timed = [step.encoder.surgery for step in plan.steps.values() if isinstance(step, Cost)]
    assert sorted(timed) == ["drawn", "drawn", "ordered", "taken"]


def test_vocabularies_are_compared_with_an_encoder_of_the_study(encoder_folder):
    name = "/".join(encoder_folder.parts[-2:])
    surgery = f"transplant:donor={encoder_folder},rows=overlap"

    def compared(reference: str) -> dict[str, Any]:
        return {
            "encoders": [NATIVE], "surgeries": [surgery],
            "measures": [{"measure": "vocabulary", "reference": reference, "treebanks": ["world:qaa"]}],
        }  # fmt: skip

    (fault,) = faults(encoder_folder, **compared(str(encoder_folder)))
    assert fault == f"measures.0.reference: no encoder is named {encoder_folder}; there are native"
    compile_study(study(encoder_folder, **compared("native")))
    compile_study(study(encoder_folder, **compared(name) | {"encoders": [NATIVE, str(encoder_folder)]}))


def test_entity_types_that_leave_nothing_to_find_are_refused(encoder_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    (tmp_path / "masakhaner2" / "wol").mkdir(parents=True)
    for k, split in enumerate(("train", "dev", "test")):
        text = f"Anna B-PER\nsees O\nRome{k} B-LOC\n\n" * 20
        (tmp_path / "masakhaner2" / "wol" / f"{split}.txt").write_text(text, encoding="utf-8")
    name = "masakhaner2:wol"

    def found(**types):
        ner = transfer(train=[name], evaluate=[name], entity_types=types, baselines=[])
        return [fault for fault in faults(encoder_folder, tasks={"ner": ner}) if "entity_types" in fault]

    (nothing,) = found(PER="O", LOC="O")
    assert nothing == "tasks.ner.entity_types: no type of the training data is left to find; leave one that is no O"
    ner = transfer(train=[name], evaluate=[name], entity_types={"PER": "O"}, baselines=[])
    compile_study(study(encoder_folder, tasks={"ner": ner}))


def test_a_mistyped_encoder_is_one_fault_and_what_is_made_of_it_none(encoder_folder):
    grown = {key: NATIVE[key] for key in ("texts", "tuning")} | {"name": "grown", "encoder": "wrold-natural"}
    measures = [
        {"measure": "vocabulary", "reference": "grown", "treebanks": ["world:qaa"]},
        {"measure": "cost", "surgeries": ["reinit"], "peers": ["grown"], "reference": "grown"},
    ]
    surgeries = [{"name": one, "operations": [one], "encoders": ["grown"]} for one in ("reinit", "graft:donor=grown")]
    (fault,) = faults(encoder_folder, encoders=[grown], measures=measures, surgeries=surgeries)
    assert fault == "encoders.0.encoder: wrold-natural: neither a folder nor shipped (did you mean world-natural?)"
