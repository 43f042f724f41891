"""A study says which of a task's measures selects the best step, is interpolated, and heads the page."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from babelscope.core.examples import Sentence, Tree, Word
from babelscope.core.row import Row
from babelscope.core.tasks import TASKS
from babelscope.engine.progress import study_rows
from babelscope.engine.recall import recall
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import FinishedSteps
from babelscope.measures.surface import Surface
from babelscope.report.declared import report_of
from babelscope.report.page import render
from babelscope.report.sections.between.lines import Between
from babelscope.steps import Evaluate, Tune
from babelscope.steps.plan import Plan
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.parse import Parser, Parsing
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from command_line import declaration

pytestmark = pytest.mark.usefixtures("in_process")

DEV = Sentence(
    "dev",
    (
        Word("cat", "NOUN", 2, "nsubj"), Word("sees", "VERB", 0, "root"), Word(".", "PUNCT", 2, "punct"),
        Word("!", "PUNCT", 2, "punct"), Word("$", "SYM", 2, "punct"),
    ),
)  # fmt: skip
WORDS_RIGHT = Tree([2, 0, 1, 1, 1], ["nsubj", "root", "punct", "punct", "punct"])
STOPS_RIGHT = Tree([2, 0, 2, 2, 2], ["obj", "root", "punct", "punct", "punct"])


@dataclass(frozen=True)
class Scripted(Parsing):
    """The trees of each evaluation are written down."""

    outcomes: Iterator[Tree] = field(default_factory=lambda: iter((WORDS_RIGHT, STOPS_RIGHT)))

    def predict(self, model: Any, encoded: Any) -> list[Tree]:
        return [next(self.outcomes)]


@pytest.mark.parametrize(("measure", "best", "values"), [("las", 2, [0.4, 0.8]), ("las.nopunct", 1, [1.0, 0.5])])
def test_punctuation_decides_which_step_is_best_only_where_it_is_scored(encoder, tmp_path, measure, best, values):
    parser = Parser(copy.deepcopy(encoder))
    task = Scripted(parser, [DEV], {"qaa": [DEV]}, measure)
    history = tune(parser, task, Tuning(epochs=2), 0, tmp_path)
    assert history.best_step == best
    assert [point.value for point in history.points if point.split == "dev qaa"] == values
    assert {point.measure for point in history.points} == {"loss", measure}


def parsing(encoder: Path, measure: str | None, **more: Any) -> Study:
    transfer = {
        "task": "parsing", "evaluate": ["world:qaa", "world:qab"], "sizes": {"train": 20, "dev": 10, "test": 10},
        "tuning": {"epochs": 1}, "measure": measure,
    }  # fmt: skip
    tasks = {
        "source": transfer | {"train": ["world:qaa"]},
        "both": transfer | {"train": ["world:qaa", "world:qab"]},
    }
    line = {
        "measure": "interpolation", "tasks": ["source", "both"], "evaluate": ["world:qab"], "alphas": [0, 1],
        "sentences": 10,
    }  # fmt: skip
    base = declaration(encoder, surgeries=[None], seeds=[0], retrieval=None)
    return Study.model_validate(base | {"tasks": tasks, "measures": [line]} | more)


@pytest.fixture(scope="module")
def ran(encoder_folder, tmp_path_factory) -> tuple[Study, Plan, Store]:
    study = parsing(encoder_folder, "las.nopunct")
    plan, store = compile_study(study), Store(tmp_path_factory.mktemp("main") / "store")
    assert not run_plan(plan, store, jobs=1).failed
    return study, plan, store


def slowly(sentences: Sequence[Sentence], trees: Sequence[Tree]) -> float:
    """Words that are no punctuation and no symbols, one at a time."""
    right = words = 0
    for sentence, tree in zip(sentences, trees, strict=True):
        for place, word in enumerate(sentence.words):
            if word.upos in ("PUNCT", "SYM"):
                continue
            words += 1
            same = tree.deprels[place].split(":")[0] == word.deprel.split(":")[0]
            right += tree.heads[place] == word.head and same
    return right / words


def test_it_reaches_the_selection_the_lines_and_the_page(ran):
    study, plan, store = ran
    (line,) = [step for step in plan.steps.values() if isinstance(step, Surface)]
    measured = {(row.alpha1, row.measure): row.value for row in store.rows(line.key)}
    assert set(measured) == {(alpha, name) for alpha in (0.0, 1.0) for name in ("las.nopunct", "las", "uas", "loss")}
    model, (data,) = line.models[0].model(FinishedSteps(store)), line.data
    sentences = data.read()
    with torch.no_grad():
        trees = model.module.predict([sentence.forms for sentence in sentences])
    assert measured[0.0, "las.nopunct"] == pytest.approx(slowly(sentences, trees), rel=1e-12)
    for step in (step for step in plan.steps.values() if isinstance(step, Tune)):
        assert {row.measure for row in store.rows(step.key)} == {"loss", "las.nopunct"}

    report = report_of(study, study_rows(study.name, plan, store))
    assert report.main == {"parsing": "las.nopunct"}
    assert {score.measure for score in report.scores} == {"las.nopunct"}
    assert {"las", "uas", "uas.nopunct"} <= set(report.scores[0].companions)
    (curve,) = Between.of(report).lines
    assert curve.scores["qab"] == {alpha: measured[alpha, "las.nopunct"] for alpha in (0.0, 1.0)}
    page = render(report)
    assert "LAS without punctuation by language" in page and "LAS by language" not in page


def test_rows_of_an_evaluation_are_the_same_whatever_is_the_main_measure(ran):
    _, plan, store = ran
    scored = [step for step in plan.steps.values() if isinstance(step, Evaluate)]
    assert scored
    for step in scored:
        names = {row.measure for row in store.rows(step.key)}
        assert names == {"las", "uas", "las.nopunct", "uas.nopunct"}


def test_steps_with_another_measure_are_read_back_from_the_store(ran):
    _, plan, store = ran
    for key, step in plan.steps.items():
        assert recall(store, key) == step


def test_keys_move_only_where_another_measure_is_asked_for(encoder_folder):
    plain, same, other = (
        set(compile_study(parsing(encoder_folder, name)).steps) for name in (None, "las", "las.nopunct")
    )
    assert plain == same
    assert not plain & other


def test_a_measure_that_is_none_of_the_task_is_refused(encoder_folder):
    with pytest.raises(ValueError, match=r"the measure of parsing cannot be 'accuracy'; allowed: las, las\.nopunct"):
        parsing(encoder_folder, "accuracy")
    with pytest.raises(ValueError, match=r"the measure of parsing cannot be 'uas'; allowed: las, las\.nopunct"):
        parsing(encoder_folder, "uas")


def test_a_task_has_one_main_measure_in_a_study(encoder_folder):
    tasks = parsing(encoder_folder, "las.nopunct").model_dump(mode="json")["tasks"]
    tasks["source"]["measure"] = None
    with pytest.raises(ValueError, match=r"source is scored by las and both by las\.nopunct, but both are parsing"):
        parsing(encoder_folder, None, tasks=tasks)


def test_another_measure_of_texts_keeps_the_classes_of_the_task():
    task = TASKS["cola"].scored_by("accuracy")
    assert task.measures == ("accuracy", "matthews") and task.labels == TASKS["cola"].labels
    assert str(task) == "cola" and task.known_as is None
    assert TASKS["cola"].scored_by("matthews") is TASKS["cola"]


def test_the_published_setting_scores_no_punctuation_and_the_others_do():
    paper = find_study("underspecified@paper", {})
    assert {paper.task(name).measures[0] for name in paper.tasks if name.startswith("parsing")} == {"las.nopunct"}
    for profile in ("world", "real"):
        study = find_study(f"underspecified@{profile}", {})
        assert {study.task(name).measures[0] for name in study.tasks if name.startswith("parsing")} == {"las"}


def test_rows_of_other_tasks_are_scored_as_usual():
    rows = [Row("accuracy", 0.5, "share", kind="score", task="pos", encoder="e", language="qaa", split="test", seed=0)]
    study = find_study("underspecified@paper", {})
    assert [score.measure for score in report_of(study, rows).scores] == ["accuracy"]
