"""What other packages bring and get wrong is told of where it is, before it is in rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import pytest
import torch

from babelscope.core.errors import EncoderError, InputError, StudyError, told
from babelscope.core.scores import MEASURES, Measure
from babelscope.core.tasks import TASKS
from babelscope.encoders import anatomy
from babelscope.encoders.state import weights_of, with_weights
from babelscope.measures import comparison, layers, similarity
from babelscope.measures.layers import LayerMeasure, MeasureLayers
from babelscope.measures.measure import Measure as Measured
from babelscope.report.model import Report
from babelscope.report.section import REGISTERED, section, sections_of
from babelscope.steps.evaluate import check_scores
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.surgery.operation import Operation
from babelscope.tasks.task import Score, check_direction
from babelscope.tuning import Strategy
from babelscope.tuning.schedule import Schedule
from command_line import declaration, transfer


def test_a_family_that_a_package_brings_is_known_wherever_it_is_asked_for(monkeypatch):
    with pytest.raises(EncoderError, match="encoders of type 'camembert' are not known"):
        anatomy.check_family("camembert")
    monkeypatch.setattr(anatomy, "ANATOMY", dict(anatomy.ANATOMY))
    monkeypatch.setattr(anatomy, "import_plugins", lambda: anatomy.ANATOMY.update(camembert=anatomy.ANATOMY["roberta"]))
    anatomy.check_family("camembert")
    for wrong in (5, ["bert"], None):
        with pytest.raises(EncoderError, match=r"encoders of type .* are not known"):
            anatomy.check_family(wrong)


def test_a_measure_of_a_name_that_is_taken_is_refused(monkeypatch):
    with pytest.raises(InputError, match=r"a measure is named 'accuracy' already .share of words"):
        MEASURES["accuracy"] = Measure("mine", "", better="lower")
    monkeypatch.setitem(MEASURES, "mine", Measure("mine", "first"))
    MEASURES["mine"] = Measure("mine", "second", compute=lambda predicted, gold: gold)  # a cell that is run again
    assert MEASURES["mine"].about == "second"


@pytest.mark.parametrize("known", [Measure("error", "", "words", "higher"), Measure("error", "", better="lower")])
def test_comparisons_are_of_shares_that_are_better_when_higher(known, encoder_folder, monkeypatch):
    side = {"task": "pos", "encoder": "/".join(encoder_folder.parts[-2:]), "evaluate": "world:qab"}
    compared = {"measure": "comparison", "claim": "better", "first": side, "second": side | {"encoder": "bilstm"}}
    tasks = {"pos": transfer(baselines=["bilstm"])}
    given = declaration(encoder_folder, retrieval=None, tasks=tasks, surgeries=[None])
    study = Study.model_validate(given | {"measures": [compared]})
    assert compile_study(study).steps
    monkeypatch.setattr(comparison, "measure_of", lambda name: known)
    with pytest.raises(StudyError, match="pos is scored by error; comparisons are of shares that are better when hi"):
        compile_study(study)


def test_scores_without_the_main_one_and_uneven_sums_are_refused():
    task = TASKS["pos"]
    good = Score("accuracy", 0.5, "share", None, None, (1.0, 2.0), (2.0, 4.0))
    check_scores([good, Score("loss", 1.0)], task)
    with pytest.raises(
        InputError, match=r"task pos is scored by accuracy, which its kind .* did not give; it gave loss"
    ):
        check_scores([Score("loss", 1.0)], task)
    with pytest.raises(InputError, match="did not give; it gave nothing"):
        check_scores([], task)
    with pytest.raises(InputError, match="task pos: accuracy has 2 numerators and 1 denominators"):
        check_scores([good._replace(denominators=(2.0,))], task)


def test_a_measure_with_another_number_of_values_than_layers_is_refused(encoder, monkeypatch):
    monkeypatch.setattr(Measured, "kinds", dict(Measured.kinds))

    class BySentence(LayerMeasure):
        """A number for each sentence, by mistake."""

        measure: Literal["by sentence"] = "by sentence"

        def compute(self, states):
            return states.mean(dim=(0, 2))

    data = SimpleNamespace(code="qaa", read=lambda: [["a", "b"]] * 9, name="mine")
    step = SimpleNamespace(
        encoder=lambda workspace: encoder, texts=(data,), labels={}, measure=BySentence.model_construct()
    )
    monkeypatch.setattr(layers, "data_labels", lambda data: {})
    monkeypatch.setattr("babelscope.encoders.tap.sentence_states", lambda encoder, texts: torch.zeros(3, len(texts), 4))
    with pytest.raises(InputError, match="by sentence gives 9 values for the states of 3 layers"):
        MeasureLayers.execute(step, SimpleNamespace(write_rows=list))


def test_a_similarity_with_another_number_of_values_than_layers_is_refused(monkeypatch):
    short = SimpleNamespace(unit="", __call__=None)
    monkeypatch.setattr(similarity, "check_similarity", lambda name: name)
    monkeypatch.setattr(similarity, "SIMILARITIES", {"short": lambda source, target: torch.zeros(2)})
    states = SimpleNamespace(states=torch.zeros(3, 5, 4))
    step = SimpleNamespace(measures=["short"], **vars(short))
    with pytest.raises(InputError, match="short gives 2 values for the states of 3 layers"):
        list(similarity.SentenceSimilarity._compared(step, states, states, 0, {}))


def test_an_objective_that_takes_the_worse_for_the_better_is_refused():
    worse = SimpleNamespace(measure="loss", higher_is_better=True)
    with pytest.raises(InputError, match="higher_is_better is True, but of loss lower is better"):
        check_direction(worse)
    for measure, higher in (("loss", False), ("accuracy", True), ("unheard of", True), ("unheard of", False)):
        check_direction(SimpleNamespace(measure=measure, higher_is_better=higher))


def test_a_method_that_is_missing_is_named(monkeypatch, encoder):
    monkeypatch.setattr(Operation, "kinds", dict(Operation.kinds))

    class Lacking(Operation):
        """Without its method."""

        operation: Literal["lacking"] = "lacking"

    with pytest.raises(NotImplementedError) as raised:
        Lacking().apply(encoder, 0, {})
    assert told(raised.value) == "Lacking has no method apply, which it has to define"
    assert told(NotImplementedError("of this kind")) == "NotImplementedError: of this kind"
    assert told(ValueError("no")) == "ValueError: no"


def test_a_section_that_fails_is_named(monkeypatch):
    monkeypatch.setattr("babelscope.report.section.REGISTERED", dict(REGISTERED))

    @section("odd", order=5)
    def odd(report, rows):
        raise KeyError("what")

    with pytest.raises(InputError, match=r"the section test_faults_of_others.odd of this report: KeyError: 'what'"):
        sections_of(Report("t", "q", []))


def test_weights_of_other_shapes_than_the_configuration_has_are_refused(encoder):
    weights = weights_of(encoder)
    name = next(name for name in weights if name.endswith("query.weight"))
    with pytest.raises(InputError, match=rf"{name} would be \[1, \d+\], and its configuration has it as"):
        with_weights(encoder, weights | {name: weights[name][:1]})


@pytest.mark.parametrize("given", [(0, 0), (0, 0, 0, 0), (0, 1, 0), (0, -1, 0), None])
def test_stages_that_are_not_there_are_refused(given, monkeypatch):
    monkeypatch.setattr(Strategy, "kinds", dict(Strategy.kinds))

    class Odd(Strategy):
        """Stages that are given to it."""

        strategy: Literal["odd stages"] = "odd stages"
        given: ClassVar[Any] = ()

        def entry_stages(self, layers):
            return self.given

    Odd.given = given
    schedule = Schedule(name="odd", strategy=Odd())
    problem = (
        "NoneType' object is not iterable" if given is None else r"Odd.entry_stages\(2\) gives .*; it has to give 3"
    )
    with pytest.raises(InputError, match=problem):
        schedule.entry_stages(2)
    Odd.given = (0, None, 0)
    assert schedule.entry_stages(2) == (0, None, 0)
