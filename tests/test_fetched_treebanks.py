"""Treebanks from the network: public files and those of the Hub, fetched once, checked and kept."""

import gzip
import os
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from babelscope.core.errors import InputError
from babelscope.core.examples import UPOS
from babelscope.corpora.cache import nothing_fetched
from babelscope.corpora.lines import content_digest
from babelscope.corpora.sources import (
    _public_files,
    find_treebank,
    github_folder,
    hub_folder,
    read_split,
)
from babelscope.corpora.wikipedia import wikipedia_file
from small_sources import refused, sentence


@pytest.fixture
def real_data():
    if not os.environ.get("BABELSCOPE_DATA"):
        pytest.skip("BABELSCOPE_DATA is not set")
    return Path(os.environ["BABELSCOPE_DATA"])


# Public files on GitHub


def no_network(url, output_file, pooch):
    raise ConnectionError(f"cannot reach {url}")


def test_the_table_agrees_with_the_data_folder(real_data):
    wrong = [
        row.file
        for row in _public_files()
        if content_digest(real_data / "ud" / row.treebank / f"{row.file}.gz") != row.sha256
    ]
    assert _public_files()
    assert not wrong


def test_public_files_are_fetched_once_and_kept(real_data, tmp_path):
    fetched = Counter()

    def copy(url, output_file, pooch):
        *_, treebank, commit, file = url.split("/")
        assert len(commit) == 12
        fetched[file] += 1
        packed = (real_data / "ud" / treebank / f"{file}.gz").read_bytes()
        Path(output_file).write_bytes(gzip.decompress(packed))

    first = partial(github_folder, cache=tmp_path, downloader=copy)
    again = partial(github_folder, cache=tmp_path, downloader=no_network)
    assert find_treebank("UD_Erzya-JR", "test", (first, refused)).name == "myv_jr-ud-test.conllu"
    assert len(read_split("UD_Erzya-JR", "train", (again, refused))) == 1217
    assert fetched == {"myv_jr-ud-train.conllu": 1, "myv_jr-ud-test.conllu": 1}


def test_a_public_file_that_is_not_the_recorded_one_is_refused(tmp_path):
    def other(url, output_file, pooch):
        Path(output_file).write_text("something else", encoding="utf-8")

    with pytest.raises(InputError, match=r"UD_English-PUD could not be fetched(.|\n)*does not match the known hash"):
        github_folder("UD_English-PUD", tmp_path, other)
    assert not list(tmp_path.rglob("*.conllu"))


def test_no_network_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    with pytest.raises(InputError) as caught:
        find_treebank("UD_English-PUD", "test", (partial(github_folder, cache=tmp_path, downloader=no_network),))
    message = str(caught.value)
    assert message.startswith("UD_English-PUD could not be fetched from https://raw.githubusercontent.com/")
    assert "Connect to the network, or set BABELSCOPE_DATA" in message


def test_a_treebank_outside_the_table_is_left_to_the_next_source(tmp_path):
    assert github_folder("UD_English-EWT", tmp_path, no_network) is None


# The Hugging Face hub


def hub_rows(sentences):
    """The columns that are read, in the form that the public data set gives them."""
    import datasets

    text = datasets.Value("string")
    features = datasets.Features(
        {
            "sent_id": text,
            "tokens": datasets.List(text),
            "upos": datasets.List(datasets.ClassLabel(names=["_", *reversed(UPOS)])),
            "head": datasets.List(text),
            "deprel": datasets.List(text),
            "mwt": datasets.List({"id": text, "form": text}),
            "text": text,
        }
    )
    rows = [
        {
            "sent_id": s.id,
            "tokens": s.forms,
            "upos": s.upos,
            "head": [str(word.head) for word in s.words],
            "deprel": [word.deprel for word in s.words],
            "mwt": [{"id": f"{m.first}-{m.last}", "form": m.form} for m in s.multiwords],
            "text": s.written,
        }
        for s in sentences
    ]
    return datasets.Dataset.from_list(rows, features=features)


def test_without_the_library_that_reads_the_hub_its_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"library datasets is not installed: pip install 'babelscope\[hub\]'"):
        hub_folder("UD_Faroese-OFT", tmp_path)


def test_where_nothing_is_to_be_fetched_the_network_is_not_asked(tmp_path, monkeypatch):
    for call in ("pooch.retrieve", "huggingface_hub.dataset_info", "huggingface_hub.snapshot_download"):
        monkeypatch.setattr(call, lambda *_, **__: pytest.fail("the network is asked"))
    with nothing_fetched():
        for source, name in ((github_folder, "UD_English-PUD"), (hub_folder, "UD_Faroese-OFT")):
            with pytest.raises(InputError, match="no time to fetch it"):
                source(name, tmp_path)
        with pytest.raises(InputError, match="no time to fetch it"):
            wikipedia_file("wikipedia:li")


def test_the_hub_is_read_once_and_kept_as_conllu(tmp_path):
    asked = []

    def load(configuration):
        asked.append(configuration)
        return {"train": hub_rows([sentence("a"), sentence("b")]), "test": hub_rows([sentence("c")])}

    sources = (partial(hub_folder, cache=tmp_path, load=load),)
    assert read_split("UD_Swiss_German-XYZ", "train", sources) == [sentence("a"), sentence("b")]
    assert find_treebank("UD_Swiss_German-XYZ", "test", sources).name == "gsw_xyz-ud-test.conllu"
    assert asked == ["gsw_xyz"]


@pytest.mark.parametrize("error", [ConnectionError("no route"), ValueError("BuilderConfig 'en_x' not found")])
def test_a_hub_that_fails_leaves_nothing_behind(tmp_path, error):
    def load(configuration):
        raise error

    with pytest.raises(InputError, match=f"UD_English-X could not be fetched from(.|\n)*{error}(.|\n)*Connect to the"):
        hub_folder("UD_English-X", tmp_path, load)
    assert not list(tmp_path.iterdir())


def test_hub_rows_of_another_form_leave_no_half_written_treebank(tmp_path):
    good, bad = hub_rows([sentence("a")]), hub_rows([sentence("b")]).remove_columns("mwt")
    with pytest.raises(InputError, match="KeyError"):
        hub_folder("UD_English-X", tmp_path, lambda configuration: {"train": good, "test": bad})
    assert not list(tmp_path.rglob("*.conllu"))


def test_real_splits(real_data):
    assert len(read_split("UD_German-GSD", "train")) == 799 - 79
    assert len(read_split("UD_German-GSD", "dev")) == 79
    assert len(read_split("UD_English-EWT", "dev")) == 2001


@pytest.mark.parametrize("name", ["UD_Italian-PUD", "UD_French-PUD", "UD_Wolof-WTB", "UD_Arabic-PUD"])
def test_the_text_of_real_sentences_is_what_their_surface_tokens_write(real_data, name):
    """These have both, so that each is the other's oracle; joined, the words would often be another text."""
    sentences = read_split(name, "test")
    assert [replace(one, text=None).written for one in sentences] == [one.text for one in sentences]
    split = sum("".join(one.forms) != one.written.replace(" ", "") for one in sentences)
    assert (split > 0.4 * len(sentences)) == (name != "UD_Arabic-PUD")
