"""Tasks of one's own: declared in a study, trained, scored, exported and predicted with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from babelscope.core.errors import DataError, InputError, StudyError
from babelscope.core.tasks import TASKS, Task
from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.corpora.datasets import find
from babelscope.engine.recall import recall
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.steps import Baseline, Evaluate, Recurrent, Tune
from babelscope.steps.plan import check_data
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study, dump_study, load_study
from babelscope.tasks.export import load_model
from babelscope.tasks.kinds import kind_of
from babelscope.world import World
from command_line import babelscope, declaration
from own_tasks import _validated, tasks, texts, with_number

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A treebank in the order of its file, and tables of texts with topics."""
    folder = tmp_path_factory.mktemp("mine")
    world = World()
    write_conllu(folder / "mine.conllu", map(with_number, world.treebank("qaa", "train", 60)))
    for name in ("train", "test"):
        lines = [f"{text}\t{'short' if len(text.split()) < 8 else 'long'}\t{k}" for k, text in texts(world, name)]
        (folder / f"{name}.tsv").write_text("\n".join(["body\ttopic\tnumber", *lines, ""]), encoding="utf-8")
    return folder


def study(folder, encoder_folder, **changes: Any) -> Study:
    declared = declaration(encoder_folder, seeds=[0], surgeries=[None], retrieval=None, tasks=tasks(folder))
    return Study.model_validate(declared | changes)


class Ran:
    """A study of such tasks that has run."""

    def __init__(self, folder, encoder_folder, store):
        self.plan = compile_study(study(folder, encoder_folder))
        self.store = Store(store)
        assert not run_plan(self.plan, self.store).failed

    def of(self, kind, task):
        """The steps of a kind and a task, by key."""
        return {
            key: step
            for key, step in self.plan.steps.items()
            if isinstance(step, kind) and (step.model.task if isinstance(step, Evaluate) else step.task).name == task
        }

    def tuning(self, task):
        return next(key for key, step in self.of(Tune, task).items() if not isinstance(step.encoder, Recurrent))


@pytest.fixture(scope="module")
def ran(folder, encoder_folder, tmp_path_factory):
    return Ran(folder, encoder_folder, tmp_path_factory.mktemp("ran") / "store")


@pytest.mark.parametrize(
    ("task", "classes"),
    [("number", ("Plur", "Sing", "_")), ("tag", ("NN", "_")), ("topic", ("long", "short")), ("place", ())],
)
def test_classes_are_those_of_the_training_data(task, classes, ran):
    assert {step.task.labels for step in ran.of(Tune, task).values()} == {classes}


@pytest.mark.parametrize(
    ("task", "measures", "baselines"),
    [
        ("number", {"accuracy"}, {"most-frequent-tag", "word-majority", "bilstm"}),
        ("tag", {"accuracy"}, set()),
        ("topic", {"accuracy"}, {"majority", "bag-of-words"}),
        ("place", {"pearson", "spearman"}, {"majority"}),
    ],
)
def test_rows_have_the_tasks_own_name(task, measures, baselines, ran):
    keys = {**ran.of(Evaluate, task), **ran.of(Baseline, task)}
    rows = [row for key in keys for row in ran.store.rows(key)]
    assert {row.task for row in rows} == {task}
    assert measures <= {row.measure for row in rows}
    assert baselines < {row.encoder for row in rows}
    assert {row.language for row in rows} == {"qab" if task in ("topic", "place") else "qaa"}


def test_the_label_is_learned_and_not_the_part_of_speech(ran):
    (evaluated,) = (key for key in ran.of(Evaluate, "number") if not isinstance(_encoder(ran, key), Recurrent))
    (score,) = (row.value for row in ran.store.rows(evaluated) if row.measure == "accuracy")
    commonest = [row.value for key in ran.of(Baseline, "number") for row in ran.store.rows(key)
                 if (row.encoder, row.measure) == ("most-frequent-tag", "accuracy")]  # fmt: skip
    gold = ran.plan.steps[evaluated].data.read()
    share = sum(word.upos != "NOUN" for one in gold for word in one.words) / sum(len(one.words) for one in gold)
    assert commonest == [pytest.approx(share)]
    assert 0 <= score <= 1


def _encoder(ran, key):
    return ran.plan.steps[key].model.encoder


def test_a_declared_task_is_in_the_key_and_a_built_in_one_by_its_name(ran, folder, encoder_folder):
    step = next(iter(ran.of(Tune, "tag").values()))
    lemmas = step.task.model_copy(update={"label": "lemma"})
    fields = {name: getattr(step, name) for name in Tune.model_fields}
    assert len({Tune(**fields | {"task": task}).key for task in (step.task, lemmas, TASKS["pos"])}) == 3
    assert step.model_dump(mode="json")["task"]["label"] == "xpos"
    assert Tune(**fields | {"task": "pos"}).model_dump(mode="json")["task"] == "pos"
    assert all(recall(ran.store, key) == ran.plan.steps[key] for key in ran.of(Tune, "topic"))


def test_a_declared_study_is_written_and_read_back(folder, encoder_folder, tmp_path):
    declared = study(folder, encoder_folder)
    (tmp_path / "study.yaml").write_text(dump_study(declared), encoding="utf-8")
    assert load_study(tmp_path / "study.yaml") == declared


@pytest.mark.parametrize(
    ("task", "column", "where"), [("number", 5, "the column FEATS, as Number"), ("tag", 4, "the column XPOS")]
)
def test_predictions_go_to_the_column_that_was_learned(task, column, where, ran, folder, tmp_path):
    answer = babelscope("predict", ran.tuning(task), folder / "mine.conllu", "-o", tmp_path / "out.conllu",
                        "--store", ran.store.folder)  # fmt: skip
    assert answer.status == 0, answer.errors
    assert f"60 sentences labelled (task {task}), in {where}" in " ".join(answer.output.split())
    before, after = (
        [line.split("\t") for line in path.read_text().splitlines() if line[:1].isdigit()]
        for path in (folder / "mine.conllu", tmp_path / "out.conllu")
    )
    others = [k for k in range(10) if k != column]
    assert [[line[k] for k in others] for line in before] == [[line[k] for k in others] for line in after]
    gold = read_conllu(folder / "mine.conllu")
    tuned = recall(ran.store, ran.tuning(task)).model(_Results(ran.store))
    predicted = tuned.module.predict([sentence.forms for sentence in gold])
    label = "feats:Number" if task == "number" else "xpos"
    assert [[word.label(label) for word in one.words] for one in read_conllu(tmp_path / "out.conllu")] == predicted
    cases = [[word.label("feats:Case") for word in one.words] for one in read_conllu(tmp_path / "out.conllu")]
    assert cases == [[word.label("feats:Case") for word in one.words] for one in gold]


class _Results:
    def __init__(self, store):
        self.store = store

    def result(self, step):
        return self.store.result(step.key)


@pytest.mark.parametrize("task", ["number", "topic", "place"])
def test_an_exported_model_remembers_its_task(task, ran, folder, tmp_path):
    key = ran.tuning(task)
    assert babelscope("export", key, "-o", tmp_path / "out", "--store", ran.store.folder).status == 0
    design = json.loads((tmp_path / "out" / "babelscope.json").read_text())["design"]
    assert (design["task"]["name"], design["task"]["label"]) == (
        task,
        {"number": "feats:Number", "place": "number"}.get(task, task),
    )
    assert load_model(tmp_path / "out").design.task == ran.plan.steps[key].task
    file = folder / ("mine.conllu" if task == "number" else "test.tsv")
    for source, name in ((key, "one"), (tmp_path / "out", "other")):
        answer = babelscope("predict", source, file, "-o", tmp_path / name, "--store", ran.store.folder)
        assert answer.status == 0, answer.errors
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    if task != "number":
        assert (tmp_path / "one").read_text().splitlines()[0] == "body\ttopic\tnumber"


def faults(folder, encoder_folder, **changes: Any) -> str:
    """What is wrong with the study if its task `number` is declared otherwise."""
    declared = tasks(folder)
    number = {key: value for key, value in (declared["number"] | changes).items() if value is not None}
    with pytest.raises(StudyError) as caught:
        compile_study(_validated(folder, encoder_folder, declared | {"number": number}))
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"label": "feats:Mood"}, "tasks.number.train: the words of the training data have no feats:Mood"),
        ({"label": None}, "number: tagging needs a label, such as feats:Number"),
        ({"label": "colour"}, "number: the label 'colour' is no column of words; there are lemma, upos, xpos, feats,"),
        ({"label": "upos:Number"}, "number: the label 'upos:Number' is no column of words"),
        ({"label": "feats:"}, "number: the label 'feats:' is no column of words"),
        ({"text": "body"}, "number: tagging has no text; leave it out"),
        ({"task": "pos", "label": "xpos"}, "number: label is said where a task of one's own is declared, and pos is"),
        ({"task": "poetry"}, "number: the task cannot be 'poetry'; allowed: mlm, pos,"),
        ({"task": "poetry", "label": None}, "or for a task of one's own: classification, regression, tagging, with a"),
        (
            {"baselines": ["majority"]},
            "number: the baseline cannot be 'majority' (did you mean word-majority?); allowed: most-frequent-tag",
        ),
        ({"head": "small"}, "number: the head cannot be 'small'; allowed: none, leave it out"),
        ({"task": "regression", "scale": [1, 1], "baselines": []}, "number: scale 1 to 1: give the lowest and the hi"),
        (
            {"task": "regression", "scale": [0, 1e300], "baselines": []},
            "number: scale 0 to 1e+300: numbers are told",
        ),
        (
            {"task": "regression", "label": "a", "text": ["a", "b"], "baselines": []},
            "number: the label 'a' is a column",
        ),
        ({"task": "classification", "label": "first", "baselines": []}, "number: the label 'first' is a column of the"),
        (
            {"task": "classification", "label": "a", "text": ["b", "b"], "baselines": []},
            "number: text has the column 'b' twice; name the two columns of a pair, or one",
        ),
        ({"evaluate": ["world:qab"]}, "tasks.number.evaluate.0: no word has feats:Number, so that"),
        ({"train": ["world:qaa"]}, "tasks.number.train: the words of the training data have no feats:Number"),
    ],
)
def test_what_cannot_be_declared_is_refused(changes, problem, folder, encoder_folder):
    found = faults(folder, encoder_folder, **changes)
    assert problem in found


def test_numbers_that_are_all_the_same_are_refused(folder, encoder_folder, tmp_path):
    """No correlation with them can be measured, which counted as 0."""
    (tmp_path / "d").mkdir()
    for split, last in (("train", 0.9), ("dev", 0.9), ("test", 0.5)):
        lines = [f"a b {number}\t{last if number % 2 else 0.5}" for number in range(40)]
        (tmp_path / f"d/{split}.tsv").write_text("\n".join(["text\tscore", *lines]) + "\n", encoding="utf-8")
    named = [f"tsv:de:{tmp_path}/d"]
    given = {
        "task": "regression", "label": "score", "text": "text", "scale": [0, 1], "baselines": [],
        "train": named, "evaluate": named, "sizes": {"train": 10, "dev": 10, "test": 10},
    }  # fmt: skip
    found = faults(folder, encoder_folder, **given)
    assert "evaluate.0: all have the same score (0.5), and no correlation with that can be measured" in found


def test_a_built_in_name_is_no_name_for_a_task_of_ones_own(folder, encoder_folder):
    with pytest.raises(StudyError, match="pos is a built-in task; give one of your own another name"):
        _validated(folder, encoder_folder, {"pos": tasks(folder)["number"]})


def test_a_task_has_a_name(folder, encoder_folder):
    with pytest.raises(StudyError, match="a task is named ' ': give it a name"):
        _validated(folder, encoder_folder, {" ": tasks(folder)["number"]})


def test_a_task_can_be_named_by_another_transfer(folder, encoder_folder):
    declared = tasks(folder)
    few = {key: value for key, value in declared["number"].items() if key != "label"} | {"task": "number", "shots": 4}
    plan = compile_study(_validated(folder, encoder_folder, {"number": declared["number"], "few": few}))
    assert {step.task.name for step in plan.steps.values() if isinstance(step, Tune)} == {"number"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("a b\tnews\t1", r"test.tsv:62: unknown label 'news' in column 'topic'; expected long, short"),
        ("a b\tlong", r"test.tsv:62: 2 cells separated by tabs; expected 3"),
        (" \tlong\t1", r"test.tsv:62: no text in column 'body'"),
    ],
)
def test_a_malformed_table_is_refused_before_anything_is_computed(line, problem, folder, encoder_folder, tmp_path):
    for name in ("train", "test"):
        (tmp_path / f"{name}.tsv").write_text((folder / f"{name}.tsv").read_text())
    with (tmp_path / "test.tsv").open("a") as file:
        file.write(line + "\n")
    plan = compile_study(_validated(folder, encoder_folder, {"topic": tasks(tmp_path)["topic"]}))
    with pytest.raises(StudyError, match=problem):
        check_data(plan.steps.values())


def test_tables_are_divided_for_training_and_tested_whole(folder, tmp_path):
    task = kind_of(Task(name="topic", kind="classification", reads="texts", measures=("accuracy",))).declared(
        "topic", "topic", ("body",)
    )
    name = f"tsv:en:{folder / 'train.tsv'}"
    parts = {split: find(task, name, split, 99).read() for split in ("train", "dev", "test")}
    assert {split: len(part) for split, part in parts.items()} == {"train": 54, "dev": 6, "test": 60}
    assert parts["train"] + parts["dev"] == parts["test"]
    with pytest.raises(DataError, match=r"train.tsv:1: no column 'title' in the header, which has body, topic, number"):
        find(task.model_copy(update={"texts": ("title",)}), name, "test", 9).read()
    with pytest.raises(InputError, match=r"there is no file or folder nowhere.tsv"):
        find(task, "tsv:en:nowhere.tsv", "test", 9)
    with pytest.raises(InputError, match=r"'tsv:en': such data sets are named tsv:CODE:FILE"):
        find(task, "tsv:en", "test", 9)
    (tmp_path / "train.tsv").write_text((folder / "train.tsv").read_text())
    assert find(task, f"tsv:en:{tmp_path}", "dev", 9).read() == parts["dev"]
    with pytest.raises(InputError, match=r"the folder has no test.tsv; it has the splits train"):
        find(task, f"tsv:en:{tmp_path}", "test", 9)
