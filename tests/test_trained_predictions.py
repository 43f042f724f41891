"""Files with predictions of trained models: nothing of what is given is lost, and nothing is written over."""

import pytest

from babelscope.core.tasks import TASKS
from babelscope.corpora.bio import read_bio, repaired, write_bio
from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.corpora.pairs import read_pairs, write_pairs, written_layout
from babelscope.steps import Evaluate
from babelscope.tasks.export import load_model
from command_line import babelscope
from trained_models import exporting, ran_once

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture(scope="module")
def ran(encoder_folder):
    return ran_once(encoder_folder)


@pytest.fixture
def exported(ran, tmp_path):
    return exporting(ran, tmp_path)


def test_text_in_other_letters_has_to_be_transliterated_first(ran, sentences, tmp_path):
    """Of a result that was evaluated on such text it is said, in the card and with predictions."""
    key = next(k for k, step in ran.steps.items() if isinstance(step, Evaluate) and step.data.letters)
    write_conllu(tmp_path / "in.conllu", sentences)
    advice = "babelscope transliterate FILE --by world"
    for source, told in ((key, True), (ran.tuning("pos"), False)):
        answer = predict(ran, "pos", tmp_path / "in.conllu", tmp_path / f"{told}.conllu", source=source)
        assert answer.status == 0 and (advice in answer.errors) == told
        babelscope("export", source, "-o", tmp_path / f"{told}", "--store", ran.store)
        assert (advice in (tmp_path / f"{told}/README.md").read_text(encoding="utf-8")) == told


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
    assert f"{len(sentences)} sentences parsed (task parsing)" in answer.output and "note" not in answer.errors
    running = "\n".join(" ".join(one.forms[:-2]) + f" {one.forms[-2]}." for one in sentences)
    (tmp_path / "running.txt").write_text(running)
    answer = predict(ran, "parsing", tmp_path / "running.txt", tmp_path / "four.conllu", source=folder)
    assert f"note: {len(sentences)} of " in answer.errors and "words have a sign attached" in answer.errors
    assert "note" not in answer.output

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
