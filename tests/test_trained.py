"""From a key to a folder: an exported model scores as the study did, and says what it is."""

import json
import shutil

import pytest
from transformers import pipeline

from babelscope.core.tasks import TASKS
from babelscope.corpora.conllu import write_conllu
from babelscope.encoders.folder import tuned_on
from babelscope.engine.model_card import write_model_card
from babelscope.engine.recall import recall
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import export
from babelscope.face.doubts import doubts
from babelscope.steps import Evaluate, Tune
from babelscope.steps.card import without_folder
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.export import load_model
from babelscope.world import World
from command_line import babelscope, declaration, transfer
from trained_models import QUICK, exporting, ran_once

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def ran(encoder_folder):
    return ran_once(encoder_folder)


@pytest.fixture
def exported(ran, tmp_path):
    return exporting(ran, tmp_path)


def numbers(scores):
    return {score.measure: score.value for score in scores}


@pytest.mark.parametrize(
    ("task", "recurrent"),
    [
        ("pos", False),
        ("ner", False),
        ("parsing", False),
        ("parsing", True),
        ("inference", False),
        ("similarity", False),
    ],
)
def test_an_exported_model_scores_as_the_study_did(task, recurrent, ran, exported):
    tuning = ran.tuning(task, recurrent)
    store, folder = Store(ran.store), exported(task, recurrent)
    evaluated = [key for key, step in ran.steps.items() if isinstance(step, Evaluate) and step.model.key == tuning]
    assert len(evaluated) == len(ran.steps[evaluated[0]].model.train) + (task == "pos")
    for key in evaluated:
        stored = {row.measure: row.value for row in store.rows(key)}
        scores = load_model(folder).scores(ran.steps[key].data.read())
        assert stored.items() >= numbers(scores).items()


def test_the_key_of_an_evaluation_means_its_model(ran, exported, tmp_path):
    _, evaluation = ran.data("pos")
    answer = babelscope("export", evaluation[:12], "-o", tmp_path / "again", "--store", ran.store)
    assert answer.status == 0, answer.errors
    assert (tmp_path / "again/model.safetensors").read_bytes() == (exported("pos") / "model.safetensors").read_bytes()


def test_an_exported_model_has_a_card_that_says_what_it_is(ran, exported, tmp_path):
    tuning, (data, evaluation) = ran.tuning("pos"), ran.data("pos")
    card = (exported("pos") / "README.md").read_text(encoding="utf-8")
    step = ran.steps[tuning]
    assert f"`{tuning}`" in card and f"`{step.title}`" in card and f"`{step.train[0].name}`" in card
    assert "accuracy" not in card and "babelscope predict . FILE" in card
    assert "babelscope.load" in (exported("mlm") / "README.md").read_text(encoding="utf-8")
    assert babelscope("export", evaluation, "-o", tmp_path / "scored", "--store", ran.store).status == 0
    (accuracy,) = (row.value for row in Store(ran.store).rows(evaluation) if row.measure == "accuracy")
    scored = (tmp_path / "scored/README.md").read_text(encoding="utf-8")
    tested = f"`{data.name}` (at most {data.examples:,} examples)"
    assert f"accuracy on the test sentences of {tested}: {accuracy:.4f}" in scored


@pytest.mark.parametrize("selected_on", ["dev", "test"])
def test_a_card_says_that_the_test_sentences_have_selected_the_model(encoder_folder, tmp_path, selected_on):
    """A score stood beside it, and nothing said that it was of the same sentences."""
    tasks = {"pos": transfer(**QUICK, selected_on=selected_on)}
    declared = declaration(encoder_folder, surgeries=[None], tasks=tasks, retrieval=None)
    tuning = next(step for step in compile_study(Study.model_validate(declared)).steps.values() if type(step) is Tune)
    write_model_card(tmp_path, tuning, [])
    card, count = (tmp_path / "README.md").read_text(encoding="utf-8"), tuning.dev[0].examples
    told = {"dev": "", "test": "the test sentences of "}[selected_on] + f"`world:qaa` (at most {count} examples)"
    assert f"selected on: {told}" in card
    assert ("so that scores on these are better than on new ones" in card) == (selected_on == "test")


def test_a_masked_language_model_is_exported_as_an_encoder(exported):
    fill = pipeline("fill-mask", model=str(exported("mlm")))
    assert len(fill("[MASK] .")) == 5


def test_pipelines_load_what_is_exported(exported):
    tagged = pipeline("token-classification", model=str(exported("pos")))(". .")
    assert len(tagged) == 2
    pair = {"text": ". .", "text_pair": "."}
    assert pipeline("text-classification", model=str(exported("inference")))(pair)["label"] in TASKS["inference"].labels


def test_a_head_of_our_own_is_exported_beside_its_encoder(ran, tmp_path):
    key, table = ran.tuning("sentiment"), tmp_path / "texts.tsv"
    answer = babelscope("export", key, "-o", tmp_path / "out", "--store", ran.store)
    assert answer.status == 0 and answer.output.startswith(f"model: {tmp_path / 'out'}")
    assert "else the encoder alone" in (tmp_path / "out" / "README.md").read_text()
    table.write_text("first\n" + "".join(f"{text}\n" for text in World().text("qaa", 9)))
    answers = []
    for number, model in enumerate((tmp_path / "out", key)):
        told = babelscope("predict", model, table, "-o", tmp_path / f"{number}.tsv", "--store", ran.store)
        assert told.status == 0, told.errors
        answers.append((tmp_path / f"{number}.tsv").read_text())
    assert answers[0] == answers[1] and answers[0].count("\n") == 10


@pytest.mark.parametrize(("kind", "problem"), [("Baseline", "has no model"), ("Tune", "already there")])
def test_what_cannot_be_exported_is_refused(kind, problem, ran, tmp_path):
    step = next(key for key, step in ran.steps.items() if type(step).__name__ == kind)
    if kind == "Tune":
        (tmp_path / "out").mkdir()
    answer = babelscope("export", step, "-o", tmp_path / "out", "--store", ran.store)
    assert answer.status == 2 and problem in answer.errors
    assert "Traceback" not in answer.errors


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tsv:mt:/home/me/pairs.tsv", "tsv:mt:pairs.tsv"),
        (
            "treebank:ug:me/ug.conllu>table:/a+b/letters.tsv+permute:1",
            "treebank:ug:ug.conllu>table:letters.tsv+permute:1",
        ),
        ("UD_Uyghur-UDT>table:of/letters.tsv", "UD_Uyghur-UDT>table:letters.tsv"),
        ("UD_Russian-GSD>icu:Russian-Latin/BGN", "UD_Russian-GSD>icu:Russian-Latin/BGN"),
        ("world:qah>world", "world:qah>world"),
    ],
)
def test_cards_name_files_without_their_folders(name, said):
    assert without_folder(name) == said


def test_a_key_does_for_a_model_whose_store_moved(ran, tmp_path):
    shutil.copytree(ran.store, tmp_path / "moved")
    key = ran.tuning("pos")
    assert recall(Store(tmp_path / "moved"), key) == ran.steps[key]
    answer = babelscope("export", key, "-o", tmp_path / "model", "--store", tmp_path / "moved")
    assert answer.status == 0, answer.errors
    assert json.loads((tmp_path / "model/babelscope.json").read_text())["design"]["task"] == "pos"


def test_a_model_that_was_tuned_before_is_told(exported, tmp_path, encoder_folder):
    """Also where an operation made another folder of it. Nothing is said of a language that it was not tuned in."""
    folder, cut = exported("pos"), tmp_path / "cut"
    assert babelscope("operate", folder, "--op", "reverse", "-o", cut).status == 0
    evaluated = {"pos": transfer(**QUICK | {"train": ["world:qab"], "evaluate": ["world:qaa", "world:qac"]})}
    for encoder in (folder, cut):
        declared = declaration(encoder, surgeries=[None], seeds=[0], tasks=evaluated, retrieval=None)
        (said,) = doubts(compile_study(Study.model_validate(declared)).steps.values())
        assert said == (
            f"{tmp_path.name}/{encoder.name} was tuned before, on world:qaa (pos): its scores in qaa are not zero-"
            "shot, and too good where what is tested was trained on then"
        )


@pytest.mark.parametrize(("task", "said"), [("pos", ["qaa are too good where"]), ("parsing", [])])
def test_a_task_in_between_in_the_language_of_the_training_needs_no_warning(exported, task, said):
    """But the same task does: its sentences may be tested."""
    declared = declaration(
        exported("pos"), surgeries=[None], seeds=[0], tasks={task: transfer(**QUICK)}, retrieval=None
    )
    found = list(doubts(compile_study(Study.model_validate(declared)).steps.values()))
    assert [words in line for words, line in zip(said, found, strict=True)] == [True] * len(said)


def test_a_model_that_was_tuned_twice_says_both(exported, tmp_path):
    """Without the folder of a file of one's own, which is nobody's business."""
    write_conllu(tmp_path / "own.conllu", World().treebank("qaa", "train", 30))
    own = transfer(**QUICK | {"train": [f"treebank:qaa:{tmp_path}/own.conllu"]})
    declared = declaration(exported("mlm"), surgeries=[None], seeds=[0], tasks={"pos": own}, retrieval=None)
    plan = compile_study(Study.model_validate(declared))
    assert list(doubts(plan.steps.values())) == []  # of what was read without labels
    assert not run_plan(plan, Store(tmp_path / "later")).failed
    key = next(key for key, step in plan.steps.items() if isinstance(step, Tune))
    export(Store(tmp_path / "later"), key, tmp_path / "again")
    names = {"mlm": "world:qaa", "pos": "treebank:qaa:own.conllu"}
    assert tuned_on(str(tmp_path / "again")) == [(task, name, "qaa") for task, name in names.items()]
    for file in ("config.json", "babelscope.json", "README.md"):
        assert str(tmp_path) not in (tmp_path / "again" / file).read_text(encoding="utf-8")
