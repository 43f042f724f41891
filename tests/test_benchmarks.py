import gzip
import os
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import SentencePair
from babelscope.core.tasks import TASKS
from babelscope.corpora.benchmarks import (
    GLUE,
    divide,
    examples_language,
    find_examples,
    hub_files,
    local_files,
    read_examples,
)

LOCAL = (local_files,)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A function that puts files into an empty data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("BABELSCOPE_DATA", str(folder))

    def add(file: str, text: str) -> Path:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return add


@pytest.fixture
def real_data():
    if not os.environ.get("BABELSCOPE_DATA"):
        pytest.skip("BABELSCOPE_DATA is not set")


def rte(count: int) -> str:
    rows = (f"{k}\tpremise {k}\thypothesis {k}\tentailment\n" for k in range(count))
    return "index\tsentence1\tsentence2\tlabel\n" + "".join(rows)


def xnli(premises: int) -> str:
    rows = (f"premise {k // 3}\thypothesis {k}\t{k % 3}\n" for k in range(3 * premises))
    return "premise\thypothesis\tlabel\n" + "".join(rows)


def refused(name: str) -> None:
    raise AssertionError(f"a later source was asked for {name}")


# Splits


def test_glues_dev_file_is_test_and_the_last_tenth_of_train_is_dev(data):
    train, test = data("glue/RTE/train.tsv", rte(20)), data("glue/RTE/dev.tsv", rte(7))
    read = partial(read_examples, "rte", "glue:RTE", sources=(local_files, refused))
    assert [len(read(split)) for split in ("train", "dev", "test")] == [18, 2, 7]
    assert [one.first for one in read("dev")] == ["premise 18", "premise 19"]
    files = [find_examples("rte", "glue:RTE", split, LOCAL) for split in ("train", "dev", "test")]
    assert files == [train, train, test]


def test_a_set_that_leaves_nothing_to_train_on_is_refused(data):
    file = data("glue/RTE/train.tsv", rte(1))
    for split in ("train", "dev"):
        with pytest.raises(DataError, match=r"train\.tsv.*: has too few examples to divide \(1\): none is") as caught:
            read_examples("rte", "glue:RTE", split, LOCAL)
        assert caught.value.path == file
    assert len(read_examples("rte", "glue:RTE", "train", LOCAL, whole=True)) == 1


def test_a_file_and_its_gzip_that_differ_are_refused(data):
    file = data("glue/RTE/train.tsv", rte(20))
    packed = file.with_name("train.tsv.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert find_examples("rte", "glue:RTE", "train", LOCAL) == file
    packed.write_bytes(gzip.compress(rte(21).encode()))
    with pytest.raises(InputError, match=r"of train\.tsv, train\.tsv\.gz one alone can be read, and they differ"):
        find_examples("rte", "glue:RTE", "train", LOCAL)


def test_a_set_of_one_file_keeps_pairs_of_a_premise_together(data):
    file = data("xnli/xnli-eu-native.tsv", xnli(7))
    read = partial(read_examples, "xnli", "xnli:eu-native", sources=(local_files, refused))
    train, dev, test = (read(split) for split in ("train", "dev", "test"))
    assert (len(train), len(dev), len(test)) == (18, 3, 21)
    assert train + dev == test
    assert [one.label for one in dev] == ["entailment", "neutral", "contradiction"]
    assert find_examples("xnli", "xnli:eu-native", "test") == file


@given(st.lists(st.integers(0, 12), min_size=1).map(lambda keys: [SentencePair(f"{k}", None, "0") for k in keys]))
def test_dividing_loses_nothing_and_shares_no_first_sentence(examples):
    train, dev = divide(examples)
    assert Counter(train + dev) == Counter(examples)
    assert not {one.first for one in train} & {one.first for one in dev}
    assert len(train) <= 0.9 * len(examples)
    assert train == [one for one in examples if one in train]
    if len(set(examples)) == len(examples):
        assert len(dev) == -(-len(examples) // 10)


def test_xnlis_own_files_hold_all_languages(data):
    rows = "{0}\tneutral\t{1} a\t{1} b\n"
    for split in ("dev", "test"):
        both = rows.format("de", f"de {split}") + rows.format("fr", f"fr {split}")
        data(f"xnli/xnli.{split}.tsv", "language\tgold_label\tsentence1\tsentence2\n" + both)
    data("xnli/multinli.train.fr.tsv", "premise\thypo\tlabel\na\tb\tcontradictory\n")
    read = partial(read_examples, "xnli", sources=LOCAL)
    assert read("xnli:de", "dev") == [SentencePair("de dev a", "de dev b", "neutral")]
    assert read("xnli:fr", "test") == [SentencePair("fr test a", "fr test b", "neutral")]
    assert read("xnli:fr", "train") == [SentencePair("a", "b", "contradiction")]
    with pytest.raises(InputError, match=r"xnli:de has no train split: .* holds dev, test"):
        read("xnli:de", "train")


def test_mnli_serves_for_xnli_and_its_second_dev_file_for_tests_alone(data):
    header = "sentence1\tsentence2\tgold_label\n"
    data("glue/MNLI/dev_matched.tsv", header + "a\tb\tneutral\n")
    data("glue/MNLI/dev_mismatched.tsv", header + "c\td\tneutral\n")
    assert read_examples("xnli", "glue:MNLI", "test", LOCAL) == [SentencePair("a", "b", "neutral")]
    assert read_examples("mnli", "glue:MNLI-mm", "test", LOCAL) == [SentencePair("c", "d", "neutral")]
    with pytest.raises(InputError, match="glue:MNLI-mm has no dev split"):
        find_examples("mnli", "glue:MNLI-mm", "dev", LOCAL)


def test_every_glue_task_has_its_labels():
    for benchmark in GLUE.values():
        for task in benchmark.tasks:
            assert set((benchmark.layout.labels or {}).values()) == set(TASKS[task].labels)
            assert (benchmark.layout.second is not None) == TASKS[task].pair == (len(benchmark.hub_columns) == 2)


# The hub


def rows_of(dataset: str, configuration: str):
    assert dataset == ("facebook/xnli" if configuration == "de" else "nyu-mll/glue")
    texts = {"sentence1": "a\tb", "sentence2": "c", "sentence": "a", "premise": "p", "hypothesis": "h"}
    values = (0.0, 2.5) if configuration == "stsb" else (0, 1)
    return {key: [texts | {"label": value} for value in values] for key in ("train", "validation", "test")}


def test_hub_rows_are_written_once_and_read(tmp_path):
    hub = (partial(hub_files, cache=tmp_path, load=rows_of),)
    assert read_examples("rte", "glue:RTE", "test", hub) == [
        SentencePair("a b", "c", "entailment"),
        SentencePair("a b", "c", "not_entailment"),
    ]
    assert [one.label for one in read_examples("stsb", "glue:STS-B", "test", hub)] == [0.0, 2.5]
    assert read_examples("sst2", "glue:SST-2", "test", hub)[1] == SentencePair("a", None, "1")
    assert read_examples("xnli", "xnli:de", "dev", hub)[1] == SentencePair("p", "h", "neutral")
    offline = (partial(hub_files, cache=tmp_path, load=refused),)
    assert len(read_examples("rte", "glue:RTE", "test", offline)) == 2


def test_damaged_questions_of_qqp_are_left_out(data, tmp_path):
    """In GLUE's file a few are broken over two lines; of the hub's rows two have no second question."""
    header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
    broken = "1\t1\t2\twhy?\thow \nlong?\t0\n" + "2\t3\t4\twhy?\t\t1\n"
    data("glue/QQP/dev.tsv", f"{header}{broken}3\t5\t6\ta?\tb?\t1\n")
    sound = [SentencePair("a?", "b?", "1")]
    assert read_examples("qqp", "glue:QQP", "test", LOCAL) == sound

    def rows(dataset, configuration):
        both = [{"question1": "a?", "question2": text, "label": 1} for text in ("b?", "", " ")]
        return {key: both for key in ("train", "validation")}

    hub = (partial(hub_files, cache=tmp_path, load=rows),)
    assert read_examples("qqp", "glue:QQP", "test", hub) == sound


def test_hidden_labels_and_faults_of_the_network_are_input_errors(tmp_path):
    def hidden(dataset, configuration):
        return {key: [{"sentence1": "a", "sentence2": "b", "label": -1}] for key in ("train", "validation")}

    def offline(dataset, configuration):
        raise ConnectionError("no route")

    for load, problem in ((hidden, "label -1 of 'a': expected 0 to 1"), (offline, "ConnectionError: no route")):
        with pytest.raises(InputError) as caught:
            find_examples("rte", "glue:RTE", "test", (partial(hub_files, cache=tmp_path, load=load),))
        assert problem in str(caught.value)
        assert "glue:RTE could not be fetched from nyu-mll/glue, rte, on the Hugging Face hub" in str(caught.value)
        assert "holds glue/RTE/train.tsv and glue/RTE/dev.tsv (or with .gz), or connect" in str(caught.value)
    assert list(tmp_path.glob("glue/*")) == []


# Refusals


@pytest.mark.parametrize(
    "task, name, split, problem",
    [
        (
            "rte",
            "glue:Rte",
            "test",
            "'glue:Rte' is not the name of a benchmark (did you mean glue:RTE?); known are glue:CoLA",
        ),
        ("rte", "RTE", "test", "'RTE' is not the name of a benchmark"),
        ("xnli", "xnli:../x", "test", "'xnli:../x' is not the name of a benchmark"),
        ("xnli", f"xnli:{'x' * 300}", "test", f"'xnli:{'x' * 300}' is not the name of a benchmark"),
        ("sst2", "glue:RTE", "test", "glue:RTE is data of task rte, not of sst2"),
        ("rte", "xnli:de", "test", "xnli:de is data of task xnli or mnli, not of rte"),
        ("rte", "glue:RTE", "validation", "'validation' is not a split; allowed are train, dev, test"),
        ("rte", "glue:RTE", "test", "glue:RTE is in none of the sources"),
        (
            "xnli",
            "xnli:eu-x",
            "test",
            "xnli:eu-x is in none of the sources\nSet BABELSCOPE_DATA to a folder that holds",
        ),
    ],
)
def test_what_there_is_not_is_refused(data, task, name, split, problem):
    with pytest.raises(InputError) as caught:
        read_examples(task, name, split, LOCAL)
    assert str(caught.value).startswith(problem)


def test_a_fault_in_a_file_names_it(data):
    file = data("glue/RTE/dev.tsv", rte(2) + "2\ta\tb\tmaybe\n")
    with pytest.raises(DataError, match="unknown label 'maybe'") as caught:
        read_examples("rte", "glue:RTE", "test", LOCAL)
    assert (caught.value.path, caught.value.line) == (file, 4)


@pytest.mark.parametrize(
    "name, code",
    [("glue:MNLI", "en"), ("xnli:de", "de"), ("xnli:eu-native", "eu"), ("xnli:es2en-native", "en")],
)
def test_language_of_a_name(name, code):
    assert examples_language(name) == code


# Real data


REAL = [("rte", "glue:RTE"), ("sst2", "glue:SST-2"), ("stsb", "glue:STS-B"), ("wnli", "glue:WNLI")] + [
    ("xnli", f"xnli:{part}") for part in ("es-original", "eu-original", "eu-native", "es2en-native")
]


def test_real_benchmarks_are_read_whole(real_data):
    sizes = {}
    for task, name in REAL:
        train, dev, test = (read_examples(task, name, split, LOCAL) for split in ("train", "dev", "test"))
        sizes[name] = len(train), len(dev), len(test)
        assert TASKS[task].labels == () or {one.label for one in test} == set(TASKS[task].labels)
        if name != "glue:STS-B":  # whose own dev file shares some sentences with its train file
            assert not {one.first for one in train} & {one.first for one in dev}
    assert sizes["glue:RTE"] == (1119, 125, 139)
    assert sizes["glue:SST-2"] == (54552, 6062, 6735)
    assert sizes["glue:STS-B"] == (5749, 1500, 1379)
    assert sizes["glue:WNLI"] == (508, 57, 70)
    assert sizes["xnli:es-original"] == sizes["xnli:eu-original"] == (4509, 501, 5010)
    assert sizes["xnli:eu-native"] == sizes["xnli:es2en-native"] == (558, 63, 621)
