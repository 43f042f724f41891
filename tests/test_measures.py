"""Measures as a family: one defined in a test is measured, and a similarity is a function."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from babelscope.core.errors import InputError, StudyError
from babelscope.core.step import STEPS, Step
from babelscope.encoders.tap import sentence_states
from babelscope.engine.recall import recall
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.face.catalogue import catalogue
from babelscope.measures import Compiled, LayerMeasure, Measure
from babelscope.measures.layers import MeasureLayers
from babelscope.measures.models import OfModel
from babelscope.measures.similarities import SIMILARITIES, similarity
from babelscope.measures.similarity import USUAL, Similarity
from babelscope.steps import Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study, load_study
from between_study import complete
from command_line import declaration, transfer
from own_measures import Anisotropy  # which enters the measures of that file
from studies_in_text import MINIMAL

pytestmark = pytest.mark.usefixtures("in_process")

# What a stranger writes.


@similarity("RSA")
def rsa(source, target):
    """Correlation of the cosines of sentences in one language and in the other (Kriegeskorte et al., 2008)."""

    def cosines(states):
        units = torch.nn.functional.normalize(states.double(), dim=-1)
        above = torch.ones(units.shape[1], units.shape[1]).triu(1).bool()
        return (units @ units.transpose(-1, -2))[:, above]

    pairs = zip(cosines(source.states), cosines(target.states), strict=True)
    return torch.stack([torch.corrcoef(torch.stack(pair))[0, 1] for pair in pairs])


def study(encoder: Path, *measures: dict | Measure, **changes) -> Study:
    base = declaration(encoder, surgeries=[None], seeds=[0], tasks={}, retrieval=None, measures=list(measures))
    return Study.model_validate(base | changes)


def ran(declared: Study, store: Store) -> list[Step]:
    plan = compile_study(declared)
    assert not run_plan(plan, store, jobs=1).failed
    return list(plan.steps.values())


# A measure of layers.


def test_a_measure_of_layers_is_a_formula(encoder_folder, store):
    tasks = {"pos": transfer(baselines=[], evaluate=["world:qaa"])}
    anisotropy = {"measure": "anisotropy", "texts": ["world:qaa", "world:qab"], "sentences": 8, "tuned": ["pos"]}
    steps = [
        step
        for step in ran(study(encoder_folder, anisotropy, tasks=tasks, surgeries=[None, "reverse"]), store)
        if isinstance(step, MeasureLayers)
    ]
    assert [isinstance(step.model, Tune) for step in steps] == [False, True, False, True]
    for step in steps:
        model, results = step.model, FinishedSteps(store)
        encoder = model.tuned_encoder(results) if isinstance(model, Tune) else model.build(results)
        rows = store.rows(step.key)
        for data in step.texts:
            states = sentence_states(encoder, data.read())
            mine = [row for row in rows if row.dataset == data.name]
            assert [row.value for row in mine] == pytest.approx([slow_anisotropy(layer) for layer in states], abs=1e-6)
            assert [(row.layer, row.measure, step.kind_of(row)) for row in mine] == [
                (layer, "anisotropy", "anisotropy") for layer in range(3)
            ]
            assert {(row.language, row.split, row.surgery, row.task) for row in mine} == {
                (data.language, "test", model.labels.get("surgery"), model.labels.get("task"))
            }


def slow_anisotropy(states: torch.Tensor) -> float:
    pairs = [
        float(torch.cosine_similarity(states[i], states[j], dim=0))
        for i in range(len(states))
        for j in range(len(states))
        if i != j
    ]
    return sum(pairs) / len(pairs)


def test_its_step_is_recalled_and_known_by_its_fields(encoder_folder, store):
    declared = Anisotropy(texts=("world:qaa",), sentences=4)
    (step,) = (step for step in ran(study(encoder_folder, declared), store) if isinstance(step, MeasureLayers))
    assert recall(store, step.key) == step

    def key(measure: LayerMeasure) -> str:
        return next(one.key for one in compile_study(study(encoder_folder, measure)).steps.values())

    more = declared.model_copy(update={"sentences": 5})
    assert key(more) != key(declared) == step.key
    assert key(declared.model_copy(update={"tuned": ()})) == step.key


def test_what_a_measure_of_layers_lacks_is_said(encoder_folder):
    anisotropy = {"measure": "anisotropy", "texts": ["world:qaa", "world:qzz"], "tuned": ["pos"]}
    with pytest.raises(StudyError) as caught:
        compile_study(study(encoder_folder, anisotropy))
    assert [fault.partition(": ")[0] for fault in caught.value.faults] == ["measures.0.texts.1", "measures.0.tuned.0"]
    assert "'pos' is no task of the study; there are none" in caught.value.faults[1]


# A measure of any kind.


def test_a_measure_has_checks_steps_and_a_place_in_lists(encoder_folder, store):
    (step,) = ran(study(encoder_folder, {"measure": "letters", "most": 5}), store)
    (row,) = store.rows(step.key)
    assert (row.value, row.unit) == (5, "letters")
    with pytest.raises(StudyError, match=r"measures\.0\.most: names have a letter at least") as caught:
        compile_study(study(encoder_folder, {"measure": "letters", "most": 0}))
    assert str(caught.value).endswith("measures.0 is of the kind letters; entries are counted from 0")
    assert ("letters", "measure", "How many letters the name of each encoder has.") in catalogue("measures")[1]


def test_what_a_user_has_wrong_in_a_measure_is_said_with_its_path(tmp_path):
    def faults(measures: str) -> list[str]:
        file = tmp_path / "study.yaml"
        file.write_text(MINIMAL + measures, encoding="utf-8")
        with pytest.raises(StudyError) as caught:
            load_study(file)
        return list(caught.value.faults)

    (fault,) = faults("measures: [{measure: letters, least: 1}]\n")
    assert fault == "measures.0.least: unknown key; allowed are measure, most"
    (fault,) = faults("measures: [{most: 1}]\n")
    assert fault.startswith("measures.0: measure is missing; there are ") and "retrieval" in fault
    (fault,) = faults("measures: [{measure: volume}]\n")
    assert fault.startswith("measures.0: no measure is named 'volume'; there are ")
    (fault,) = faults("measures: [{measure: comparison, claim: x, first: {task: pos}, second: {task: pos}}]\n")[:1]
    assert fault == "measures.0.first.encoder: missing"


# Studies without tasks.


def test_a_study_may_only_measure(encoder_folder, store):
    steps = ran(study(encoder_folder, {"measure": "retrieval", "source": "qaa", "targets": ["qab"]}), store)
    assert [step.row_kind for step in steps] == ["retrieval"] and store.rows(steps[0].key)


@pytest.mark.parametrize(("kind", "targets"), [("retrieval", ["qab", "qaa"]), ("projection", ["qab", "qab"])])
def test_a_language_is_compared_with_others(encoder_folder, kind, targets):
    """Every sentence finds itself."""
    measure = {"measure": kind, "source": "qaa", "targets": targets}
    with pytest.raises(StudyError, match=rf"targets.1: {targets[1]} is given twice; a language"):
        compile_study(study(encoder_folder, measure))


def test_a_study_without_tasks_and_measures_is_refused(encoder_folder):
    with pytest.raises(ValueError, match="nothing to do: give tasks, measures, or both"):
        study(encoder_folder)


def test_a_study_without_tasks_scores_nothing_that_contrasts_are_of(encoder_folder):
    conditions = {"first": {"encoder": "e"}, "second": {"encoder": "f"}}
    contrast = {"claim": "better", **conditions}
    with pytest.raises(StudyError, match=r"no encoder or baseline that is scored is named e; there are none"):
        compile_study(study(encoder_folder, {"measure": "letters"}, contrasts=[contrast]))


# Similarities.


def test_a_similarity_is_a_function(encoder_folder, store):
    declared = Similarity(
        source="world:qaa", targets=("world:qab",), sentences=9, measures=("RSA", "linear CKA (biased)")
    )
    (step,) = compile_study(study(encoder_folder, declared)).steps.values()
    complete([step], store)  # in this process, which alone knows the function
    encoder = step.model.build(FinishedSteps(store))
    x, y = (sentence_states(encoder, sentences) for sentences in step.texts.read())
    rows = [row for row in store.rows(step.key) if row.measure == "RSA"]
    assert [row.value for row in rows] == pytest.approx([slow_rsa(*layers) for layers in zip(x, y, strict=True)])
    assert ("RSA", "similarity", SIMILARITIES["RSA"].meaning) in catalogue("measures")[1]


def slow_rsa(x: torch.Tensor, y: torch.Tensor) -> float:
    sides = [
        [float(torch.cosine_similarity(side[i].double(), side[j].double(), dim=0)) for i in range(9) for j in range(i)]
        for side in (x, y)
    ]
    return float(np.corrcoef(*sides)[0, 1])


def test_another_similarity_changes_no_study_that_does_not_name_it():
    assert Similarity(source="world:qaa", targets=("world:qab",)).measures == USUAL
    assert "RSA" in SIMILARITIES and "RSA" not in USUAL


def test_similarities_are_named(tmp_path):
    with pytest.raises(ValueError, match="no similarity has this name; there are linear CKA"):
        Similarity(source="world:qaa", targets=("world:qab",), measures=("alikeness",))
    with pytest.raises(TypeError, match="are both called retrieval: rename one"):
        similarity("retrieval")(slow_rsa)


def test_what_reports_have_to_know_of_a_similarity():
    assert [name for name in SIMILARITIES if name in USUAL and not SIMILARITIES[name].variant] == [
        "linear CKA (debiased)", "RBF CKA (biased)", "retrieval",
    ]  # fmt: skip
    assert {name for name in USUAL if SIMILARITIES[name].unit == "share"} == {"retrieval", "mutual retrieval"}


def test_tasks_that_are_not_there_are_named(encoder_folder):
    lookup = Compiled((), (), {}, True, [], {}, (), (), (0,), 0)
    with pytest.raises(InputError, match="'pos' is no task of the study; there are none"):
        lookup.task("pos")
    with pytest.raises(InputError, match="no encoder is named e"):
        lookup.tuned("e")


# Rows.


def test_steps_of_measures_say_of_which_kind_their_rows_are():
    own = [step for step in STEPS.values() if step.__module__.startswith("babelscope.measures.")]
    named_otherwise = (OfModel, MeasureLayers)  # a base, and one whose measure names it
    kinds = {step.row_kind for step in own if step not in named_otherwise}
    assert kinds == {kind for kind in Measure.kinds if kind not in ("anisotropy", "letters")} | {
        "probe",
        "score",
        "text size",
    }
