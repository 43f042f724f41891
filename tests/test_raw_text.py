"""Raw text: running text cut into sentences, Wikipedia's Parquet files, folders and documents of one's own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from babelscope.core.errors import DataError, InputError
from babelscope.corpora import datasets, wikipedia
from babelscope.corpora.running_text import running_sentences
from babelscope.corpora.wikipedia import read_wikipedia, wikipedia_file

# Sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Zij kwam.  Hij\tging!\nWaarom?", ["Zij kwam.", "Hij ging!", "Waarom?"]),
        ("Kop\n\nEen zin. Zonder einde", ["Een zin."]),
        ("Dit is J. R. Jansen. Hij schrijft.", ["Dit is J. R. Jansen.", "Hij schrijft."]),
        ("Am 3. Oktober 1990 war es so. Im Jahr 1994. Danach nicht.",
         ["Am 3. Oktober 1990 war es so.", "Im Jahr 1994.", "Danach nicht."]),
        ("„Warum?“ fragte sie. (Er schwieg.) Ende.", ["„Warum?“ fragte sie.", "(Er schwieg.)", "Ende."]),
        ("bzw. etwas anderes.", ["bzw. etwas anderes."]),
        ("Ja... Nee!?", ["Ja...", "Nee!?"]),
        ("东京是首都。它很大！「好。」他说。", ["东京是首都。", "它很大！", "「好。」", "他说。"]),
        ("یہ ایک جملہ ہے۔ دوسرا؟", ["یہ ایک جملہ ہے۔", "دوسرا؟"]),
        ("3.5 en www.nl zijn geen einde.", ["3.5 en www.nl zijn geen einde."]),
        ("Klasse A.", ["Klasse A."]),
        ("", []),
    ],
)  # fmt: skip
def test_running_text_is_cut_by_the_rule(text, sentences):
    assert list(running_sentences(text)) == sentences


@given(st.text("aB .!?\n。)1", max_size=40))
def test_sentences_are_parts_of_the_text_in_its_order(text):
    """Whatever the text, nothing is made up, and nothing comes twice."""
    found, place = list(running_sentences(text)), 0
    squeezed = " ".join(text.split())
    for sentence in found:
        assert sentence and sentence == " ".join(sentence.split())
        place = squeezed.index(sentence, place) + len(sentence)
    assert list(running_sentences("\n".join(found))) == found or "。" in text or ")" in text


# Wikipedia

ARTICLES = [f"Artikel {k}\n\nDe eerste zin van {k}00. De tweede van {k}00.\n\nZie ook" for k in range(25)]


def parquet_file(path: Path, texts: list[str], **more: list[str]) -> Path:
    """A file in the form of `wikimedia/wikipedia`: four columns of strings, in groups of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = [str(k) for k in range(len(texts))]
    table = {"id": numbers, "url": numbers, "title": numbers, "text": texts} | more
    parquet.write_table(pyarrow.table(table), path, row_group_size=10)
    return path


def test_articles_are_dealt_out_to_splits(tmp_path):
    path = parquet_file(tmp_path / "a.parquet", ARTICLES)
    splits = {split: read_wikipedia(path, split) for split in ("train", "dev", "test")}
    of = {split: [k for k in range(25) if any(f" {k}00." in one for one in found)] for split, found in splits.items()}
    assert of == {"train": [k for k in range(25) if k % 10 < 8], "dev": [8, 18], "test": [9, 19]}
    assert splits["dev"][:2] == ["De eerste zin van 800.", "De tweede van 800."]
    assert read_wikipedia(path, "train", 5) == splits["train"][:5]


def test_a_wikipedia_is_data_of_language_modelling(tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    path = parquet_file(tmp_path / "wikipedia" / "nl" / "train-00000-of-00006.parquet", ARTICLES)
    parquet_file(path.with_name("train-00001-of-00006.parquet"), ["Een andere zin."] * 10)
    data = datasets.find("mlm", "wikipedia:nl", "test", 3)
    assert data.code == "nl" and data.splits_one_file
    assert data.read() == ("De eerste zin van 900.", "De tweede van 900.", "De eerste zin van 1900.")
    data.check()
    parquet_file(path, ARTICLES[:-1])
    with pytest.raises(DataError, match="has changed since the study was planned"):
        data.check()


def test_what_is_not_in_the_data_folder_is_fetched_for_its_language(tmp_path, monkeypatch):
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    asked = []

    def download(code: str) -> Path:
        asked.append(code)
        return parquet_file(tmp_path / code / "train-00000-of-00001.parquet", ARTICLES).parent

    assert wikipedia_file("wikipedia:zh-min-nan", download).parent.name == "zh-min-nan" and asked == ["zh-min-nan"]
    with pytest.raises(InputError, match="has no Wikipedia of 'xx' in 20231101") as caught:
        wikipedia_file("wikipedia:xx", lambda code: tmp_path / "none")
    assert "wikipedia/xx/NAME.parquet" in caught.value.advice and "text:xx:FILE_OR_FOLDER" in caught.value.advice


def test_the_hub_is_asked_for_the_first_file_of_the_language(tmp_path, monkeypatch):
    asked = {}

    def snapshot_download(dataset: str, **given: object) -> str:
        asked.update(given, dataset=dataset)
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    assert wikipedia._from_hub("fo-test") == tmp_path / "20231101.fo-test"
    assert asked == {
        "dataset": "wikimedia/wikipedia", "repo_type": "dataset",
        "allow_patterns": ["20231101.fo-test/train-00000-of-*.parquet"],
    }  # fmt: skip


def test_without_a_network_the_message_says_what_to_do(monkeypatch):
    """The tests run offline: this is the library's own refusal."""
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    with pytest.raises(InputError, match="wikipedia:olo could not be fetched from wikimedia/wikipedia") as caught:
        wikipedia_file("wikipedia:olo")
    assert "Connect to the network, or put a Parquet file" in caught.value.advice


@pytest.mark.parametrize(
    "name", ["wikipedia:", "wikipedia:../x", "wikipedia:NL", "wikipedia:nl:file", f"wikipedia:{'x' * 300}"]
)
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match="named wikipedia:CODE"):
        wikipedia_file(name)


def test_a_file_at_fault_is_refused(tmp_path):
    (tmp_path / "text.parquet").write_text("no Parquet", encoding="utf-8")
    with pytest.raises(DataError, match="no Parquet file with a column 'text'"):
        read_wikipedia(tmp_path / "text.parquet", "train")
    parquet.write_table(pyarrow.table({"id": ["1"]}), tmp_path / "other.parquet")
    with pytest.raises(DataError, match="no Parquet file with a column 'text'"):
        read_wikipedia(tmp_path / "other.parquet", "train")
    parquet.write_table(pyarrow.table({"text": [b"Een zin."] * 20}), tmp_path / "bytes.parquet")
    with pytest.raises(DataError, match="column 'text' of text: binary, not all of it text"):
        read_wikipedia(tmp_path / "bytes.parquet", "train")
    damaged = tmp_path / "damaged.parquet"
    parquet.write_table(pyarrow.table({"text": ["Een zin."] * 20}), damaged, compression="none")
    damaged.write_bytes(damaged.read_bytes().replace(b"Een zin.", b"Een \xff\xff\xff."))
    with pytest.raises(DataError, match="of text: 'utf-8' codec can't decode"):
        read_wikipedia(damaged, "train")
    with pytest.raises(DataError, match="no sentence in the articles of test"):
        read_wikipedia(parquet_file(tmp_path / "few.parquet", ["Een zin."] * 9), "test")


# Text of one's own


def document(*lines: str, key: str = "content") -> str:
    """A line of OSCAR's form of JSON."""
    return json.dumps({key: "\n".join(lines), "warc_headers": {"warc-type": "conversion"}, "metadata": {}}) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten sentences in four files, and a file that is no text."""
    place = tmp_path / "oscar"
    place.mkdir()
    with gzip.open(place / "gsw_part_2.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(document("Titel", "Dr erscht. Dr zwöit.", "Dr dritt.") + "\n" + document("Dr viert."))
    (place / "gsw_part_3.jsonl").write_text(document("Dr füft. Dr sächst.", key="text"), encoding="utf-8")
    (place / "gsw_part_1.txt").write_text("no ke Satz\n\nno eine\n", encoding="utf-8")
    (place / "gsw_part_4.txt.gz").write_bytes(gzip.compress("Zwe Sätz. I eire Zile.\nÄnd\n".encode()))
    (place / "LICENCE").write_text("CC0")
    return place


WHOLE = ["no ke Satz", "no eine", "Dr erscht.", "Dr zwöit.", "Dr dritt.", "Dr viert.", "Dr füft.", "Dr sächst.",
         "Zwe Sätz. I eire Zile.", "Änd"]  # fmt: skip


def test_the_files_of_a_folder_are_one_text(folder):
    parts = [datasets.find_file("mlm", f"text:gsw:{folder}", split).read() for split in ("train", "dev", "test")]
    assert [sentence for part in parts for sentence in part] == WHOLE and [len(part) for part in parts] == [8, 1, 1]


def test_a_text_is_known_by_what_is_read_of_it(folder):
    def sha() -> str:
        return datasets.find_file("mlm", f"text:gsw:{folder}", "train").sha256

    before = sha()
    (folder / "LICENCE").write_text("CC BY")
    plain = folder / "gsw_part_1.txt"
    (folder / "gsw_part_1.txt.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert sha() == before
    (folder / "gsw_part_3.jsonl").rename(folder / "gsw_part_0.jsonl")
    assert sha() != before


def test_one_file_of_documents_is_a_text_too(tmp_path):
    file = tmp_path / "dump.jsonl"
    file.write_text(document(*[f"Satz {k}00." for k in range(10)]), encoding="utf-8")
    as_documents = datasets.find_file("mlm", f"text:gsw:{file}", "test")
    assert as_documents.read() == ("Satz 900.",)
    file.rename(tmp_path / "dump.txt")
    assert datasets.find_file("mlm", f"text:gsw:{tmp_path / 'dump.txt'}", "test").sha256 != as_documents.sha256


@pytest.mark.parametrize(
    ("line", "problem"), [("{", "not JSON"), ('{"body": "a"}', "no object with text in 'content' or 'text'"),
                          ("[1]", "no object with text"), ('{"text": 1}', "no object with text")],
)  # fmt: skip
def test_documents_at_fault_are_refused_with_their_line(tmp_path, line, problem):
    file = tmp_path / "dump.jsonl"
    file.write_text(document("Ein Satz.") + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=problem) as caught:
        datasets.find_file("mlm", f"text:gsw:{file}", "train").read()
    assert caught.value.line == 2


def test_a_folder_without_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"the folder has no file of text, whose name ends in \.txt"):
        datasets.find_file("mlm", f"text:gsw:{tmp_path}", "train")
