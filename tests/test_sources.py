import gzip
from pathlib import Path

import pytest

from babelscope.core.errors import DataError, InputError
from babelscope.core.languages import REAL_LANGUAGES, Language, code_of_name
from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.sources import (
    _public_files,
    available_treebanks,
    find_treebank,
    local_folder,
    read_split,
    split_file,
    treebank_language,
)
from small_sources import refused, sentence

LOCAL = (local_folder,)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A function that puts a treebank with splits of so many sentences into an empty data folder."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))

    def add(name: str, prefix: str, **splits: int) -> Path:
        folder = tmp_path / "ud" / name
        folder.mkdir(parents=True)
        for split, count in splits.items():
            write_conllu(folder / f"{prefix}-ud-{split}.conllu", (sentence(f"{split}-{i}") for i in range(count)))
        return folder

    return add


# The data folder


def test_the_data_folder_comes_first_plain_or_compressed(data):
    folder = data("UD_Spanish-X", "es_x", train=1, test=1)
    (folder / "es_x-ud-dev.conllu.gz").write_bytes(gzip.compress((folder / "es_x-ud-test.conllu").read_bytes()))
    assert find_treebank("UD_Spanish-X", "train", (local_folder, refused)) == folder / "es_x-ud-train.conllu"
    assert find_treebank("UD_Spanish-X", "dev", (local_folder, refused)) == folder / "es_x-ud-dev.conllu.gz"
    assert read_split("UD_Spanish-X", "dev", (local_folder, refused)) == [sentence("test-0")]


def test_splits_of_two_sources_are_never_mixed(data):
    folder = data("UD_Spanish-X", "es_x", test=1)
    with pytest.raises(InputError) as caught:
        find_treebank("UD_Spanish-X", "train", (local_folder, refused))
    assert str(caught.value).startswith(f"UD_Spanish-X has no train split: {folder} holds test")


def test_nothing_found_says_what_is_there_and_what_to_do(data, tmp_path):
    data("UD_Spanish-X", "es_x", test=1)
    with pytest.raises(InputError) as caught:
        find_treebank("UD_Spanish-Y", "test", LOCAL)
    message = str(caught.value)
    assert message.startswith("UD_Spanish-Y is in none of the sources")
    assert f"BABELSCOPE_DATA is {tmp_path}; treebanks there: UD_Spanish-X\n" in message
    assert "set BABELSCOPE_DATA to a folder that holds ud/TREEBANK/*-ud-SPLIT.conllu[.gz]" in message


def test_without_a_data_folder_the_message_says_so(monkeypatch):
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    with pytest.raises(InputError, match="BABELSCOPE_DATA is not set"):
        find_treebank("UD_Spanish-Y", "test", LOCAL)


def test_a_data_folder_that_does_not_exist_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path / "absent"))
    with pytest.raises(InputError, match="which is not a folder; correct it or unset it"):
        find_treebank("UD_Spanish-Y", "test")


@pytest.mark.parametrize(
    "name",
    ["EWT", "../UD_English-EWT", "UD_English", "UD_English-EWT/..", f"UD_English-{'x' * 300}", "UD_a\0b", "UD_a\0-b"],
)
def test_other_names_are_refused(name):
    for ask in (lambda: find_treebank(name, "test", (refused,)), lambda: treebank_language(name)):
        with pytest.raises(InputError, match="is not the name of a treebank; expected UD_LANGUAGE-TREEBANK"):
            ask()


def test_a_name_of_a_language_that_the_library_stumbles_over_is_none():
    assert code_of_name("a\0b") is None and code_of_name("Basque") == "eu"


def test_other_splits_are_refused():
    with pytest.raises(InputError, match="'valid' is not a split; allowed are train, dev, test"):
        find_treebank("UD_English-EWT", "valid", (refused,))


# Training data where there is no train file


@pytest.mark.parametrize(("count", "held_out"), [(30, 3), (39, 3), (5, 1)])
def test_dev_is_divided_where_there_is_no_train_file(data, count, held_out):
    folder = data("UD_Spanish-X", "es_x", dev=count, test=4)
    train, dev, test = (read_split("UD_Spanish-X", split, LOCAL) for split in ("train", "dev", "test"))
    assert [s.id for s in train + dev] == [f"dev-{i}" for i in range(count)]
    assert len(dev) == held_out
    assert [s.id for s in test] == [f"test-{i}" for i in range(4)]
    assert split_file("UD_Spanish-X", "train", LOCAL) == folder / "es_x-ud-dev.conllu"
    assert split_file("UD_Spanish-X", "test", LOCAL) == folder / "es_x-ud-test.conllu"


def test_a_train_file_in_parts_is_refused_where_the_dev_file_would_be_divided(data):
    folder = data("UD_Spanish-X", "es_x", dev=20, test=1)
    for part in "ab":
        write_conllu(folder / f"es_x-ud-train-{part}-1.conllu", [sentence(f"{part}1"), sentence(f"{part}2")])
    names = r"es_x-ud-train-a-1\.conllu, es_x-ud-train-b-1\.conllu"
    for split in ("train", "dev"):
        with pytest.raises(InputError, match=rf"the train split is in parts \({names}\).* > es_x-ud-train\.conllu"):
            read_split("UD_Spanish-X", split, LOCAL)
    with pytest.raises(InputError, match="the train split is in parts"):
        find_treebank("UD_Spanish-X", "train", LOCAL)
    assert len(read_split("UD_Spanish-X", "test", LOCAL)) == 1
    parts = sorted(folder.glob("*-train-*"))
    (folder / "es_x-ud-train.conllu").write_bytes(b"".join(part.read_bytes() for part in parts))
    assert len(read_split("UD_Spanish-X", "train", LOCAL)) == 4 and len(read_split("UD_Spanish-X", "dev", LOCAL)) == 20


def test_a_dev_file_of_one_sentence_is_not_divided(data):
    data("UD_Spanish-X", "es_x", dev=1)
    with pytest.raises(DataError, match="1 sentence; a dev file that is divided into train and dev takes two or more"):
        read_split("UD_Spanish-X", "train", LOCAL)


def test_dev_is_whole_where_there_is_a_train_file(data):
    data("UD_Spanish-X", "es_x", train=7, dev=30)
    assert [s.id for s in read_split("UD_Spanish-X", "train", LOCAL)] == [f"train-{i}" for i in range(7)]
    assert [s.id for s in read_split("UD_Spanish-X", "dev", LOCAL)] == [f"dev-{i}" for i in range(30)]


def test_a_test_file_is_never_training_data(data):
    data("UD_Spanish-PUD", "es_pud", test=30)
    for split in ("train", "dev"):
        with pytest.raises(InputError, match=f"UD_Spanish-PUD has no {split} split"):
            read_split("UD_Spanish-PUD", split, LOCAL)


# Names


def test_the_language_of_a_treebank():
    assert treebank_language("UD_English-EWT") is REAL_LANGUAGES["en"]
    assert treebank_language("UD_Swiss_German-UZH") is REAL_LANGUAGES["gsw"]


def test_a_language_outside_the_table_is_named_by_its_files(data):
    data("UD_Old_Irish-DipWBG", "sga_dipwbg", test=1)
    assert treebank_language("UD_Old_Irish-DipWBG") == Language("sga", "Old Irish", "Zyyy")
    with pytest.raises(InputError, match="no language is named 'Qwxyz'; known are Arabic"):
        treebank_language("UD_Qwxyz-X")


def test_every_public_file_bears_the_code_of_its_language():
    prefixes = {(row.treebank, row.file.split("_")[0]) for row in _public_files()}
    assert all(treebank_language(name).code == prefix for name, prefix in prefixes)
    assert len(prefixes) == len({row.treebank for row in _public_files()})


def test_available_treebanks_are_those_of_the_table_and_the_folder(data):
    data("UD_Turkish-IMST", "tr_imst", dev=1)
    folder = data("UD_Spanish-X", "es_x", train=1, test=1)
    data("UD_Spanish-X-old", "es_x", train=1)  # a copy
    (folder.parent / "UD_Spanish-X.zip").touch()
    (folder.parent / "UD_Spanish-Y").touch()
    found = {treebank.name: treebank for treebank in available_treebanks()}
    assert list(found) == sorted(found)
    assert set(found) == {row.treebank for row in _public_files()} | {"UD_Spanish-X"}
    assert found["UD_Spanish-X"][1:] == (REAL_LANGUAGES["es"], ("train", "test"), "BABELSCOPE_DATA")
    assert found["UD_Turkish-IMST"][2:] == (("dev",), "BABELSCOPE_DATA")
    assert found["UD_Uyghur-UDT"][2:] == (("train", "dev", "test"), "GitHub")
