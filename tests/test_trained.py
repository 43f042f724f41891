"""From a key to a folder and to files with predictions: nothing is lost, nothing is written over."""

import json
import shutil

import pytest
from transformers import pipeline

from babelscope.core.tasks import TASKS
from babelscope.corpora.bio import read_bio, repaired, write_bio
from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.corpora.pairs import read_pairs, write_pairs, written_layout
from babelscope.encoders.folder import tuned_on
from babelscope.engine.model_card import write_model_card
from babelscope.engine.recall import recall
from babelscope.engine.run import run_plan
from babelscope.engine.store import Store
from babelscope.engine.trained import export
from babelscope.face.doubts import doubts
from babelscope.steps import Evaluate, Recurrent, Tune
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.export import load_model
from command_line import babelscope, declaration, transfer

pytestmark = pytest.mark.usefixtures("in_process")

QUICK = {"train": ["world:qaa"], "evaluate": ["world:qaa"], "baselines": []}
SENTENCES = {
    "inference": transfer(**QUICK, head="family"),
    "similarity": transfer(**QUICK, head="pooler"),
    "sentiment": transfer(**QUICK, head="first"),
}
WORDS = {
    "pos": transfer(**QUICK | {"baselines": ["most-frequent-tag"], "evaluate": ["world:qaa", "world:qah>world"]}),
    "ner": transfer(**QUICK),
    "parsing": transfer(**QUICK | {"baselines": ["bilstm"]}),
    "mlm": transfer(**QUICK),
}
GROWN = {
    "name": "grown", "texts": [{"language": "qaa", "sentences": 60}], "vocabulary_size": 300,
    "shape": {"hidden": 16, "layers": 1, "heads": 1, "feed_forward": 16},
    "tuning": {"learning_rate": 1e-3, "epochs": 1},
}  # fmt: skip


class Ran:
    """A study that has run."""

    def __init__(self, folder, encoder):
        declared = declaration(
            encoder, encoders=[GROWN], seeds=[0], surgeries=[None], tasks=WORDS | SENTENCES, retrieval=None
        )
        plan = compile_study(Study.model_validate(declared))
        self.store, self.steps = folder / "store", plan.steps
        assert not run_plan(plan, Store(self.store)).failed

    def tuning(self, task, recurrent=False):
        """The key of the tuning of a task."""
        return next(
            key
            for key, step in self.steps.items()
            if isinstance(step, Tune) and step.task.name == task and isinstance(step.encoder, Recurrent) == recurrent
        )

    def data(self, task):
        """The test data, and the key of the evaluation on it."""
        return next(
            (step.data, key)
            for key, step in self.steps.items()
            if isinstance(step, Evaluate) and step.model.key == self.tuning(task)
        )


@pytest.fixture(scope="module")
def ran(tmp_path_factory, encoder_folder):
    return Ran(tmp_path_factory.mktemp("ran"), encoder_folder)


@pytest.fixture
def exported(ran, tmp_path):
    """A function that exports the tuning of a task."""

    def export(task, recurrent=False):
        folder = tmp_path / f"exported-{task}"
        answer = babelscope("export", ran.tuning(task, recurrent), "-o", folder, "--store", ran.store)
        assert (answer.status, answer.errors) == (0, ""), answer.errors
        return folder

    return export


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


def test_text_in_other_letters_has_to_be_transliterated_first(ran, sentences, tmp_path):
    """Of a result that was evaluated on such text it is said, in the card and with predictions."""
    key = next(k for k, step in ran.steps.items() if isinstance(step, Evaluate) and step.data.letters)
    write_conllu(tmp_path / "in.conllu", sentences)
    advice = "babelscope transliterate FILE --by world"
    for source, told in ((key, True), (ran.tuning("pos"), False)):
        answer = predict(ran, "pos", tmp_path / "in.conllu", tmp_path / f"{told}.conllu", source=source)
        assert answer.status == 0 and (advice in answer.output) == told
        babelscope("export", source, "-o", tmp_path / f"{told}", "--store", ran.store)
        assert (advice in (tmp_path / f"{told}/README.md").read_text(encoding="utf-8")) == told


def test_a_masked_language_model_is_exported_as_an_encoder(exported):
    fill = pipeline("fill-mask", model=str(exported("mlm")))
    assert len(fill("[MASK] .")) == 5


def test_pipelines_load_what_is_exported(exported):
    tagged = pipeline("token-classification", model=str(exported("pos")))(". .")
    assert len(tagged) == 2
    pair = {"text": ". .", "text_pair": "."}
    assert pipeline("text-classification", model=str(exported("inference")))(pair)["label"] in TASKS["inference"].labels


def test_a_head_of_our_own_is_not_exported(ran, tmp_path):
    answer = babelscope("export", ran.tuning("sentiment"), "-o", tmp_path / "out", "--store", ran.store)
    assert answer.status == 2 and "tasks.sentiment.head: family" in answer.errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "problem"), [("Baseline", "has no model"), ("Tune", "already there")])
def test_what_cannot_be_exported_is_refused(kind, problem, ran, tmp_path):
    step = next(key for key, step in ran.steps.items() if type(step).__name__ == kind)
    if kind == "Tune":
        (tmp_path / "out").mkdir()
    answer = babelscope("export", step, "-o", tmp_path / "out", "--store", ran.store)
    assert answer.status == 2 and problem in answer.errors
    assert "Traceback" not in answer.errors


def predict(ran, task, file, output, source=None):
    return babelscope("predict", source or ran.tuning(task), file, "-o", output, "--store", ran.store)


@pytest.fixture
def sentences(ran):
    return ran.data("pos")[0].read()


@pytest.mark.parametrize("task", ["pos", "parsing"])
def test_conllu_keeps_all_but_the_predicted_columns(task, ran, sentences, exported, tmp_path):
    write_conllu(tmp_path / "gold.conllu", sentences)
    text = (tmp_path / "gold.conllu").read_text()
    marked = text.replace("\t_\t_\n", "\t1:dep\tGloss=x\n").replace(
        "1\t", "1-1\tAl\t" + "\t".join("_" * 8) + "\n1\t", 1
    )
    (tmp_path / "gold.conllu").write_text(marked + "# a comment that ends the file\n")
    assert predict(ran, task, tmp_path / "gold.conllu", tmp_path / "out.conllu").status == 2  # no words after it
    (tmp_path / "gold.conllu").write_text(marked)
    answer = predict(ran, task, tmp_path / "gold.conllu", tmp_path / "out.conllu")
    assert answer.status == 0, answer.errors
    columns = {3} if task == "pos" else {6, 7, 8}
    before, after = (
        [line.split("\t") for line in (tmp_path / name).read_text().splitlines()]
        for name in ("gold.conllu", "out.conllu")
    )
    kept = [[cell for k, cell in enumerate(cells) if k not in columns] for cells in before]
    assert [[cell for k, cell in enumerate(cells) if k not in columns] for cells in after] == kept
    predicted = load_model(exported(task)).module.predict([one.forms for one in sentences])
    found = read_conllu(tmp_path / "out.conllu")
    if task == "pos":
        assert [one.upos for one in found] == predicted
    else:
        assert [[(w.head, w.deprel) for w in one.words] for one in found] == [
            list(zip(*t, strict=True)) for t in predicted
        ]


def test_a_key_a_folder_and_a_bare_file_give_the_same_predictions(ran, sentences, exported, tmp_path):
    write_conllu(tmp_path / "gold.conllu", sentences)
    bare = "\n".join(
        "\t".join([*line.split("\t")[:2], *"________"]) if line and line[0] != "#" else line
        for line in (tmp_path / "gold.conllu").read_text().splitlines()
    )
    (tmp_path / "bare.conllu").write_text(bare)
    (tmp_path / "plain.txt").write_text("\n\n".join(" ".join(one.forms) for one in sentences))
    folder = exported("parsing")
    predict(ran, "parsing", tmp_path / "gold.conllu", tmp_path / "one.conllu")
    predict(ran, "parsing", tmp_path / "bare.conllu", tmp_path / "two.conllu", source=folder)
    answer = predict(ran, "parsing", tmp_path / "plain.txt", tmp_path / "three.conllu", source=folder)
    assert f"{len(sentences)} predictions of task parsing" in answer.output and "tokenise" not in answer.output
    running = "\n".join(" ".join(one.forms[:-2]) + f" {one.forms[-2]}." for one in sentences)
    (tmp_path / "running.txt").write_text(running)
    answer = predict(ran, "parsing", tmp_path / "running.txt", tmp_path / "four.conllu", source=folder)
    assert "most sentences end in a word with its full stop" in answer.output and "tokenise the text" in answer.output

    def columns(name):
        lines = (tmp_path / name).read_text().splitlines()
        return [[line.split("\t")[k] for k in (0, 1, 6, 7)] for line in lines if line and line[0] != "#"]

    assert columns("one.conllu") == columns("two.conllu") == columns("three.conllu")
    assert len(columns("one.conllu")) == sum(len(one.words) for one in sentences)


@pytest.mark.parametrize("plain", [False, True])
def test_entities_are_written_as_bio(plain, ran, exported, tmp_path):
    gold = ran.data("ner")[0].read()
    if plain:
        (tmp_path / "in.txt").write_text("\n".join(" ".join(one.words) for one in gold))
    else:
        write_bio(tmp_path / "in.txt", gold)
    answer = predict(ran, "ner", tmp_path / "in.txt", tmp_path / "out.bio")
    assert answer.status == 0, answer.errors
    found = read_bio(tmp_path / "out.bio")
    assert [list(one.words) for one in found] == [list(one.words) for one in gold]
    labels = [
        [line.split("\t")[1] for line in block.splitlines()]
        for block in (tmp_path / "out.bio").read_text().strip().split("\n\n")
    ]
    predicted = load_model(exported("ner")).module.predict([one.words for one in gold])
    assert labels == [repaired(tags) for tags in predicted]


@pytest.mark.parametrize("task", ["inference", "sentiment", "similarity"])
def test_sentence_tasks_are_written_as_tables(task, ran, tmp_path):
    gold, info = ran.data(task)[0].read(), TASKS[task]
    write_pairs(tmp_path / "in.tsv", gold)
    answer = predict(ran, task, tmp_path / "in.tsv", tmp_path / "out.tsv")
    assert answer.status == 0, answer.errors
    found = read_pairs(tmp_path / "out.tsv", written_layout(info.pair, info.labels))
    assert [one[:2] for one in found] == [one[:2] for one in gold]
    without = [line.rpartition("\t")[0] + "\tx" for line in (tmp_path / "in.tsv").read_text().splitlines()]
    (tmp_path / "bare.tsv").write_text("\n".join([without[0].replace("\tx", "\tnote"), *without[1:]]) + "\n")
    assert predict(ran, task, tmp_path / "bare.tsv", tmp_path / "two.tsv").status == 0
    lines = (tmp_path / "two.tsv").read_text().splitlines()
    assert lines[0].split("\t")[-2:] == ["note", "label"]
    assert [line.split("\t")[-1] for line in lines[1:]] == [str(one.label) for one in found]


def test_single_texts_may_be_plain(ran, tmp_path):
    gold = ran.data("sentiment")[0].read()
    write_pairs(tmp_path / "in.tsv", gold)
    (tmp_path / "in.txt").write_text("".join(f"{one.first}\n" for one in gold))
    assert predict(ran, "sentiment", tmp_path / "in.tsv", tmp_path / "one.tsv").status == 0
    assert predict(ran, "sentiment", tmp_path / "in.txt", tmp_path / "two.tsv").status == 0
    assert (tmp_path / "one.tsv").read_bytes() == (tmp_path / "two.tsv").read_bytes()


BAD = {
    "pos": [
        ("bad.conllu", "1\tthe\t_\n", "bad.conllu:1: expected 10 tab-separated columns"),
        ("bad.conllu", "2\tthe" + "\t_" * 8 + "\n", "bad.conllu:1: the id is 2 where 1 is expected"),
        ("bad.conllu", "", "holds no sentence"),
        ("bad.txt", " \n\n", "bad.txt: holds no word"),
        ("bad.tsv", "first\nx\n", "give CoNLL-U in a file named .conllu"),
        ("absent.txt", None, "absent.txt: cannot be read"),
    ],
    "ner": [
        ("bad.txt", "the\tO\n\nthe cat sat O\nhere\n", "bad.txt:3: 4 columns"),
        ("bad.txt", "", "holds no word"),
    ],
    "inference": [
        ("bad.tsv", "first\tthird\nx\ty\n", "bad.tsv:1: no column 'second' in the header"),
        ("bad.tsv", "first\tsecond\nx\ty\nx\n", "bad.tsv:3: 1 cells separated by tabs; expected 2"),
        ("bad.tsv", "first\tsecond\nx\t \n", "bad.tsv:2: no text in column 'second'"),
        ("bad.tsv", "first\tsecond\n", "holds no text"),
        ("bad.tsv", "", "bad.tsv:1: no column 'first'"),
    ],
    "sentiment": [("bad.txt", "a b\n\nc\n", "bad.txt:2: no text"), ("bad.txt", "", "holds no text")],
    "mlm": [("fine.conllu", "1\tthe" + "\t_" * 8 + "\n", "labels nothing"), ("fine.txt", "a b\n", "labels nothing")],
}


@pytest.mark.parametrize(("task", "name", "text", "problem"), [(task, *one) for task in BAD for one in BAD[task]])
def test_bad_input_is_refused_and_nothing_written(task, name, text, problem, ran, tmp_path):
    if text is not None:
        (tmp_path / name).write_text(text)
    answer = predict(ran, task, tmp_path / name, tmp_path / "out")
    assert answer.status == 2 and problem in answer.errors, answer.errors
    assert {path.name for path in tmp_path.iterdir()} == ({name} if text is not None else set())


def test_nothing_is_written_over(ran, tmp_path):
    (tmp_path / "in.txt").write_text("a b\n")
    (tmp_path / "out.conllu").write_text("mine")
    answer = predict(ran, "pos", tmp_path / "in.txt", tmp_path / "out.conllu")
    assert answer.status == 2 and "already there" in answer.errors
    assert (tmp_path / "out.conllu").read_text() == "mine"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("feedfeedfeed", "no results in"),
        ("./nowhere", "no such folder; give"),
        ("./nonsens", "no such folder (did you mean nonsenses?); give"),
        ("nonsense", "neither a folder nor the key of a result (did you mean nonsenses?): 4 to 64"),
    ],
)
def test_an_unknown_model_is_refused_and_the_nearest_is_named(source, problem, ran, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nonsenses").mkdir()
    (tmp_path / "in.txt").write_text("a b\n")
    answer = predict(ran, "pos", tmp_path / "in.txt", tmp_path / "out", source=source)
    assert answer.status == 2 and problem in answer.errors


def test_an_encoder_without_a_task_predicts_nothing(ran, encoder_folder, tmp_path):
    (tmp_path / "in.txt").write_text("a b\n")
    grown = next(key for key, step in ran.steps.items() if type(step).__name__ == "Pretrain")
    answer = predict(ran, "pos", tmp_path / "in.txt", tmp_path / "out", source=grown)
    assert answer.status == 2 and "not tuned on a task" in answer.errors
    answer = predict(ran, "pos", tmp_path / "in.txt", tmp_path / "out", source=encoder_folder)
    assert answer.status == 2 and "babelscope export wrote" in answer.errors


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
    declared = declaration(
        exported("mlm"), surgeries=[None], seeds=[0], tasks={"pos": transfer(**QUICK)}, retrieval=None
    )
    plan = compile_study(Study.model_validate(declared))
    assert list(doubts(plan.steps.values())) == []  # of what was read without labels
    assert not run_plan(plan, Store(tmp_path / "later")).failed
    key = next(key for key, step in plan.steps.items() if isinstance(step, Tune))
    export(Store(tmp_path / "later"), key, tmp_path / "again")
    assert tuned_on(str(tmp_path / "again")) == [("mlm", "world:qaa", "qaa"), ("pos", "world:qaa", "qaa")]
