"""Treebanks of the user's own: one file that is divided, or a folder with a file a split."""

from __future__ import annotations

from dataclasses import replace

import pytest

from babelscope.core.errors import DataError, InputError, StudyError
from babelscope.corpora.conllu import read_conllu, write_conllu
from babelscope.corpora.datasets import find
from babelscope.corpora.own_splits import OWN_TREEBANKS
from babelscope.corpora.parallel_sentences import find_parallel
from babelscope.corpora.parallel_words import find_words
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import declaration, transfer


def read_own(name, split):
    return OWN_TREEBANKS.read(name, split, read_conllu)


@pytest.fixture
def sentences():
    return World().treebank("qaa", "train", 40)


def test_a_file_is_divided_in_its_order(tmp_path, sentences):
    write_conllu(tmp_path / "mine.conllu", sentences)
    name = f"treebank:qaa:{tmp_path / 'mine.conllu'}"
    parts = [read_own(name, split) for split in ("train", "dev", "test")]
    assert [len(part) for part in parts] == [32, 4, 4]
    assert [one.words for part in parts for one in part] == [one.words for one in sentences]


@pytest.mark.parametrize("dev", [True, False])
def test_a_folder_has_a_file_a_split(tmp_path, sentences, dev):
    write_conllu(tmp_path / "x-train.conllu", sentences[:20])
    write_conllu(tmp_path / "x-test.conllu", sentences[30:])
    if dev:
        write_conllu(tmp_path / "x-dev.conllu", sentences[20:30])
    name = f"treebank:qaa:{tmp_path}"
    train, held_out, test = ([one.words for one in read_own(name, split)] for split in ("train", "dev", "test"))
    expected = [one.words for one in sentences]
    assert test == expected[30:]
    assert (train, held_out) == ((expected[:20], expected[20:30]) if dev else (expected[:18], expected[18:20]))


def test_a_folder_to_evaluate_on_needs_no_train_file(tmp_path, sentences):
    for split in ("dev", "test"):
        write_conllu(tmp_path / f"x-{split}.conllu", sentences[:5])
        data = find("pos", f"treebank:mt:{tmp_path}", split, 5)
        assert [one.words for one in data.read()] == [one.words for one in sentences[:5]]
    with pytest.raises(InputError, match="no file of CoNLL-U with train in its name"):
        find("pos", f"treebank:mt:{tmp_path}", "train", 5)


def test_all_tasks_of_treebanks_read_them(tmp_path, sentences):
    write_conllu(tmp_path / "mine.conllu", sentences)
    name = f"treebank:mt:{tmp_path / 'mine.conllu'}"
    data = find("pos", name, "test", 2)
    assert (data.language, data.code, data.splits_one_file) == ("mt", "mt", True)
    assert [one.words for one in data.read()] == [one.words for one in sentences[36:38]]
    assert find("mlm", name, "test", 1).read() == (" ".join(sentences[36].forms),)
    lettered = find("parsing", f"{name}>cyrillic", "test", 2)
    assert (lettered.code, len(lettered.read())) == ("mt>cyrillic", 2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("treebank:mt", "a treebank of one's own is named treebank:CODE:FILE"),
        ("treebank:mt:nowhere.conllu", "there is no file or folder /.*/nowhere.conllu"),
    ],
)
def test_what_there_is_not_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        OWN_TREEBANKS.file(name, "train")


def test_a_folder_without_a_split_and_a_file_too_small_are_refused(tmp_path, sentences):
    write_conllu(tmp_path / "x-train.conllu", sentences[:5])
    with pytest.raises(InputError, match=r"no file of CoNLL-U with test in its name, such as mt-test.conllu"):
        OWN_TREEBANKS.file(f"treebank:mt:{tmp_path}", "test")
    with pytest.raises(DataError, match="5 sentences; a file that is divided takes ten or more"):
        read_own(f"treebank:mt:{tmp_path / 'x-train.conllu'}", "train")


def test_names_that_only_contain_a_split_are_not_taken_for_it(tmp_path, sentences):
    for name, part in (("sa_devanagari-train", sentences[:20]), ("latest-test", sentences[30:])):
        write_conllu(tmp_path / f"{name}.conllu", part)
    name = f"treebank:sa:{tmp_path}"
    files = [OWN_TREEBANKS.file(name, split).name for split in ("train", "dev", "test")]
    assert files == ["sa_devanagari-train.conllu", "sa_devanagari-train.conllu", "latest-test.conllu"]
    write_conllu(tmp_path / "other-test.conllu", sentences[:10])
    with pytest.raises(InputError, match=r"several files of the split test: latest-test\.conllu, other-test\.conllu"):
        OWN_TREEBANKS.file(name, "test")


def test_sentences_without_ids_are_parallel_to_none(tmp_path, sentences):
    """Their ordinals are the same in every file."""
    first, second = (tmp_path / f"{name}.conllu" for name in "ab")
    for file in (first, second):
        write_conllu(file, [replace(sentence, id=str(k)) for k, sentence in enumerate(sentences, start=1)])
    names = [f"treebank:qaa:{first}", f"treebank:qab:{second}"]
    assert len(find_parallel(names[0], names[1:], 3).read()[1]) == 3
    assert len(find_words(*names).read()) == 4
    for file in (second, first):
        unnamed = [line for line in file.read_text().splitlines(keepends=True) if not line.startswith("# sent_id")]
        file.write_text("".join(unnamed))
        for read in (lambda: find_parallel(names[0], names[1:], 3).read(), lambda: find_words(*names)):
            with pytest.raises(InputError, match=rf"{file}: 4 of its sentences have no sent_id, .*`# sent_id = ID`"):
                read()


def test_small_splits_of_a_folder_are_whole(tmp_path, sentences):
    for split, part in (("train", sentences[:20]), ("dev", sentences[20:23]), ("test", sentences[30:34])):
        write_conllu(tmp_path / f"x-{split}.conllu", part)
    assert [len(read_own(f"treebank:mt:{tmp_path}", split)) for split in ("train", "dev", "test")] == [20, 3, 4]


def test_a_test_file_that_is_trained_on_is_refused(tmp_path, sentences, encoder_folder):
    for split in ("train", "test"):
        write_conllu(tmp_path / f"x-{split}.conllu", sentences)
    name = f"treebank:mt:{tmp_path}"
    tasks = {"pos": transfer(train=[name], evaluate=[name], baselines=[])}
    study = Study.model_validate(declaration(encoder_folder, surgeries=[None], retrieval=None, tasks=tasks))
    with pytest.raises(StudyError, match="is the file that is trained or selected on"):
        compile_study(study)


def test_a_file_is_trained_on_once_whatever_its_name(tmp_path, sentences, encoder_folder):
    for name in ("a", "b"):
        write_conllu(tmp_path / f"{name}.conllu", sentences)
    first = f"treebank:mt:{tmp_path}/a.conllu"

    def plan(second: str) -> None:
        tasks = {"pos": transfer(train=[first, second], evaluate=["world:qaa"], baselines=[])}
        compile_study(Study.model_validate(declaration(encoder_folder, surgeries=[None], retrieval=None, tasks=tasks)))

    for second in (f"treebank:mt:{tmp_path}/b.conllu", f"treebank:it:{tmp_path}/./a.conllu"):
        with pytest.raises(StudyError, match=r"tasks.pos.train.1: .* is the same text as .*a.conllu; .* count twice"):
            plan(second)
    plan(f"{first}>cyrillic")
