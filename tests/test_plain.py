"""Plain text to model language on."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import DataError, InputError
from babelscope.corpora.datasets import find
from babelscope.corpora.parallel import find_pairs
from babelscope.corpora.plain import read_text, text_file, text_language


@pytest.fixture
def text(tmp_path: Path) -> str:
    lines = [f"sentence {k} ." for k in range(20)]
    (tmp_path / "news.txt").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return f"text:nl:{tmp_path / 'news.txt'}"


def test_the_splits_are_the_whole_text_once(text: str) -> None:
    parts = [read_text(text, split) for split in ("train", "dev", "test")]
    assert [len(part) for part in parts] == [16, 2, 2]
    assert [sentence for part in parts for sentence in part] == [f"sentence {k} ." for k in range(20)]


@given(count=st.integers(10, 200))
def test_every_split_has_a_sentence(tmp_path_factory, count: int) -> None:
    file = tmp_path_factory.mktemp("text") / "t.txt"
    file.write_text("".join(f"{k}\n" for k in range(count)))
    sizes = [len(read_text(f"text:xx:{file}", split)) for split in ("train", "dev", "test")]
    assert sum(sizes) == count and min(sizes) >= 1


def test_a_text_is_data_of_language_modelling(text: str) -> None:
    data = find("mlm", text, "train", 3)
    assert (data.language, data.read()) == ("nl", ("sentence 0 .", "sentence 1 .", "sentence 2 ."))
    with pytest.raises(InputError, match="is no data of pos"):
        find("pos", text, "train", 3)


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.ndjson", "a.csv"])
def test_json_is_read_where_its_name_says_so_and_refused_elsewhere(tmp_path: Path, name: str) -> None:
    lines = "".join(f'{{"text": "This is number {k} here. And more."}}\n' for k in range(10))
    for file in (name, "a.jsonl"):
        (tmp_path / file).write_text(lines, encoding="utf-8")
    assert read_text(f"text:en:{tmp_path / 'a.jsonl'}", "dev") == ["This is number 8 here.", "And more."]
    with pytest.raises(DataError, match=r"looks like (JSON|a table).*give one sentence a line, in a file named \.txt"):
        read_text(f"text:en:{tmp_path / name}", "train")
    with pytest.raises(DataError, match=r"looks like (JSON|a table).*give one sentence a line"):
        find_pairs(f"text:en:{tmp_path / name}", f"text:de:{tmp_path / name}")


def test_treebanks_are_text_too() -> None:
    words = find("pos", "world:qaa", "train", 5).read()
    assert find("mlm", "world:qaa", "train", 5).read() == tuple(" ".join(one.forms) for one in words)


def test_ntrex_is_found_by_short_and_long_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ntrex").mkdir()
    with gzip.open(tmp_path / "ntrex" / "newstest2019-ref.nld.txt.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"zin {k}\n" for k in range(10))
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    for name in ("ntrex:nl", "ntrex:nld"):
        assert text_language(name) == "nl" and read_text(name, "test") == ["zin 9"]
    with pytest.raises(InputError, match="ntrex:fao is not in the data folder"):
        text_file("ntrex:fao")


@pytest.mark.parametrize(
    ("code", "file"), [("fo", "fao"), ("FAO", "fao"), ("ckb", "ckb-Arab"), ("sr", "srp-Cyrl"), ("sr-Latn", "srp-Latn")]
)
def test_a_language_of_ntrex_goes_by_any_of_its_codes(code: str, file: str, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "ntrex").mkdir()
    for each in ("fao", "ckb-Arab", "srp-Cyrl", "srp-Latn"):
        (tmp_path / "ntrex" / f"newstest2019-ref.{each}.txt").write_text("a\n", encoding="utf-8")
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    assert text_file(f"ntrex:{code}").name == f"newstest2019-ref.{file}.txt"
    with pytest.raises(InputError, match=r"ntrex:mt is not in the data folder: .*there are ckb-Arab, fao"):
        text_file("ntrex:mt")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text:news.txt", "named text:CODE:FILE"),
        ("text:nl:", "named text:CODE:FILE"),
        ("text:nl:nowhere.txt", "there is no file nowhere.txt"),
        ("ntrex:../x", "NTREX is named ntrex:CODE"),
    ],
)
def test_names_at_fault_are_refused(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        text_file(name)


def test_a_text_of_few_sentences_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("one\ntwo\n")
    with pytest.raises(DataError, match=r"short\.txt.*2 sentences"):
        read_text(f"text:nl:{tmp_path / 'short.txt'}", "dev")
