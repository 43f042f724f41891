import gzip
import os
from functools import partial
from pathlib import Path

import pytest

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import Tagged
from babelscope.core.languages import REAL_LANGUAGES, Language
from babelscope.corpora.bio import write_bio
from babelscope.corpora.entity_sources import (
    available_entity_corpora,
    entity_file,
    entity_language,
    hub_folder,
    local_folder,
    read_entities,
)

SENTENCES = [Tagged(["In", "Bad", "Ems"], ["O", "B-LOC", "I-LOC"]), Tagged(["SPD"], ["B-ORG"])]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty data folder, and a function that puts a file into it."""
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))

    def add(path: str, content: bytes | None = None) -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bio(file, SENTENCES)
        if content is not None:
            file.write_bytes(content)
        return file

    return add


def refused(collection: str, language: str) -> None:
    raise AssertionError(f"a later source was asked for {collection}:{language}")


# The data folder


@pytest.mark.parametrize("file", ["test.txt", "test.txt.gz", "test", "test.gz"])
def test_the_data_folder_comes_first(data, file):
    path = data(f"wikiann/de/{file}")
    if file.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert entity_file("wikiann:de", "test", (local_folder, refused)) == path
    assert read_entities("wikiann:de", "test", sources=(local_folder, refused)) == SENTENCES


@pytest.mark.parametrize("other", ["test.txt.gz", "test"])
def test_two_files_of_a_split_that_differ_are_refused(data, other):
    first, second = data("wikiann/de/test.txt"), data(f"wikiann/de/{other}")
    assert entity_file("wikiann:de", "test") == first
    second.write_bytes(b"SPD\tB-ORG\n")
    with pytest.raises(InputError, match=rf"of test\.txt, {other} one alone can be read, and they differ: leave one"):
        entity_file("wikiann:de", "test")
    assert [corpus.splits for corpus in available_entity_corpora()] == [("test",)]


def test_words_of_the_original_wikiann_lose_their_prefix(data):
    data("wikiann/de/train", b"de:In\tO\nde:Bad\tB-LOC\nde:Ems\tI-LOC\n\nde:SPD\tB-ORG\n")
    assert read_entities("wikiann:de", "train") == SENTENCES
    data("masakhaner2/wol/train.txt", b"wol:In O\n")
    assert read_entities("masakhaner2:wol", "train")[0].words == ["wol:In"]


def test_labels_and_mapping_are_those_of_the_reader(data):
    data("wikiann/de/test.txt")
    assert read_entities("wikiann:de", "test", ("LOC",), {"ORG": "O"})[1].labels == ["O"]
    with pytest.raises(DataError, match=r"test.txt:5: entity type 'ORG' is not one of LOC"):
        read_entities("wikiann:de", "test", ("LOC",))


def test_a_missing_split_says_which_there_are(data):
    folder = data("masakhaner2/wol/test.txt").parent
    with pytest.raises(InputError) as caught:
        entity_file("masakhaner2:wol", "train", (local_folder, refused))
    assert str(caught.value).startswith(f"masakhaner2:wol has no train split: {folder} holds test (files named")


def test_nothing_found_says_what_is_there_and_what_to_do(data, tmp_path):
    data("masakhaner2/wol/test.txt")
    with pytest.raises(InputError) as caught:
        entity_file("masakhaner2:bam", "train")
    message = str(caught.value)
    assert message.startswith("masakhaner2:bam is in none of the sources\n")
    assert f"BABELSCOPE_DATA is {tmp_path}; entity corpora there: masakhaner2:wol\n" in message
    assert "masakhaner2/wol/test.txt, or connect to the network for wikiann" in message


def test_without_a_data_folder_the_message_says_so(monkeypatch):
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    with pytest.raises(InputError, match="BABELSCOPE_DATA is not set"):
        entity_file("masakhaner2:wol", "train")


# The Hugging Face hub


def hub_rows(sentences):
    """The columns that are read, in the form that the public data set gives them."""
    import datasets

    tags = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"]
    features = datasets.Features(
        {"tokens": datasets.List(datasets.Value("string")), "ner_tags": datasets.List(datasets.ClassLabel(names=tags))}
    )
    rows = [{"tokens": list(words), "ner_tags": list(labels)} for words, labels in sentences]
    return datasets.Dataset.from_list(rows, features=features)


def hub_splits(**changed):
    return {split: hub_rows(changed.get(split, SENTENCES)) for split in ("train", "validation", "test")}


def test_the_hub_is_read_once_and_kept_as_bio(tmp_path, monkeypatch):
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    asked = []

    def load(language):
        asked.append(language)
        return hub_splits(validation=SENTENCES[1:])

    sources = (local_folder, partial(hub_folder, cache=tmp_path, load=load))
    assert read_entities("wikiann:de", "train", sources=sources) == SENTENCES
    assert read_entities("wikiann:de", "dev", sources=sources) == SENTENCES[1:]
    assert entity_file("wikiann:de", "test", sources) == tmp_path / "wikiann" / "de" / "test.txt"
    assert asked == ["de"]


def test_every_token_of_the_hub_is_kept(tmp_path):
    """Empty tokens and control characters have no place in a BIO file, but their words have."""
    odd = [Tagged(["", "a\tb", " c ", "\n"], ["O", "B-LOC", "I-LOC", "O"]), Tagged([], [])]
    hub_folder("wikiann", "de", tmp_path, lambda language: hub_splits(train=odd))
    found = read_entities("wikiann:de", "train", sources=(lambda *_: tmp_path / "wikiann" / "de",))
    assert found == [Tagged(["_", "ab", "c", "_"], ["O", "B-LOC", "I-LOC", "O"])]


@pytest.mark.parametrize("error", [ConnectionError("no route"), ValueError("BuilderConfig 'xx' not found")])
def test_a_hub_that_fails_leaves_nothing_behind(tmp_path, error):
    def load(language):
        raise error

    with pytest.raises(InputError, match=f"wikiann:de could not be fetched from(.|\n)*{error}(.|\n)*connect to the"):
        hub_folder("wikiann", "de", tmp_path, load)
    with pytest.raises(InputError, match="KeyError"):
        hub_folder("wikiann", "de", tmp_path, lambda language: {"train": hub_rows(SENTENCES)})
    assert not list(tmp_path.rglob("*.txt"))


def test_the_hub_has_wikiann_alone(tmp_path):
    assert hub_folder("masakhaner2", "wol", tmp_path, refused) is None


# Names


@pytest.mark.parametrize(
    "name",
    [
        "wol",
        "masakhaner2:xx",
        "masakhaner2",
        "wikiann:",
        "wikiann:../de",
        "conll:de",
        f"wikiann:{'x' * 300}",
        "wikiann:a\0",
    ],
)
def test_other_names_are_refused(name):
    for ask in (lambda: entity_file(name, "test", (refused,)), lambda: entity_language(name)):
        with pytest.raises(InputError, match="is not the name of an entity corpus; allowed are wikiann:LANGUAGE"):
            ask()


def test_other_splits_are_refused():
    with pytest.raises(InputError, match="'valid' is not a split; allowed are train, dev, test"):
        entity_file("wikiann:de", "valid", (refused,))


def test_the_language_of_a_corpus():
    codes = {"wol": "wo", "bam": "bm", "pcm": "pcm", "swa": "sw", "yor": "yo", "hau": "ha"}
    for code, expected in codes.items():
        assert entity_language(f"masakhaner2:{code}") is REAL_LANGUAGES[expected]
    assert entity_language("wikiann:eu") is REAL_LANGUAGES["eu"]
    assert entity_language("wikiann:zh-yue") == Language("zh-yue", "zh-yue", "Zyyy")


def test_available_corpora_are_those_of_the_folder(data, monkeypatch):
    data("masakhaner2/wol/test.txt")
    data("masakhaner2/README/test.txt")
    data("wikiann/zh-yue/train")
    data("wikiann/de/readme.txt")
    assert available_entity_corpora() == [
        ("masakhaner2:wol", REAL_LANGUAGES["wo"], ("test",)),
        ("wikiann:zh-yue", Language("zh-yue", "zh-yue", "Zyyy"), ("train",)),
    ]
    monkeypatch.delenv("BABELSCOPE_DATA")
    assert available_entity_corpora() == []


def test_real_corpora():
    if not os.environ.get("BABELSCOPE_DATA"):
        pytest.skip("BABELSCOPE_DATA is not set")
    found = {corpus.name: corpus for corpus in available_entity_corpora()}
    assert {"masakhaner2:wol", "masakhaner2:pcm", "masakhaner2:yor"} <= set(found)
    assert found["masakhaner2:wol"].splits == ("train", "dev", "test")
    types = ("DATE", "LOC", "ORG", "PER")
    assert [len(read_entities("masakhaner2:wol", split, types)) for split in ("train", "dev", "test")] == [
        4593,
        656,
        1312,
    ]
