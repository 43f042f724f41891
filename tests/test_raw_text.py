"""What is read as raw text and is none is refused, by commands that would write it again with other labels."""

from __future__ import annotations

import pytest

from babelscope.core.errors import DataError
from babelscope.corpora.raw_text import check_raw
from babelscope.corpora.unlabelled import read_plain_words
from command_line import babelscope

WORD = "1\tdie\tdie\tDET\t_\t_\t2\tdet\t_\t_"
OTHERS = {
    "CoNLL-U": f"# sent_id = 1\n{WORD}\n",
    "BIO": "Anna B-PER\nsees O\nRome B-LOC\n",
    "a table": "one\ttwo\nthree\tfour\n",
    "JSON": '{"text": "one two"}\n{"text": "three"}\n',
    "HTML": "<!DOCTYPE html>\n<p>one</p>\n",
    "end in CR alone": "one two\rthree\r",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_kinds_are_named(kind, tmp_path):
    file = tmp_path / "some.txt"
    file.write_text(OTHERS[kind], newline="")
    with pytest.raises(DataError, match=rf"looks like .*{kind}.*, and is read as raw text here: instead"):
        check_raw(file, "instead")
    with pytest.raises(DataError, match="looks like"):
        read_plain_words(file)
    answer = babelscope("transliterate", file, "--by", "cyrillic", "-o", tmp_path / "other.txt")
    assert answer.status == 2 and kind in answer.errors and not (tmp_path / "other.txt").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{one} two\n",
        '["one"]\n',
        "one two\n",
        "one two\r\nthree\r\n",
        "a\tb\none two three\nfour\n",
        "Plan O\nis better than this\nor so\n",
    ],
)
def test_text_is_text(text, tmp_path):
    (tmp_path / "some.txt").write_text(text, newline="")
    check_raw(tmp_path / "some.txt", "instead")


@pytest.mark.parametrize("name", ["a.csv", "a.JSON", "a.ndjson.gz"])
def test_other_kinds_are_known_by_their_names_too(name, tmp_path):
    (tmp_path / name).write_text("one two\n")
    with pytest.raises(
        DataError, match=r"looks like (a table|JSON), by its name, and is read as raw text here: instead"
    ):
        check_raw(tmp_path / name, "instead")


def test_names_in_capitals_are_conllu_too(tmp_path):
    (tmp_path / "A.CONLLU").write_text(f"{WORD}\n\n".replace("die", "дом"), encoding="utf-8")
    answer = babelscope("transliterate", tmp_path / "A.CONLLU", "--by", "cyrillic", "-o", tmp_path / "b.conllu")
    assert answer.status == 0, answer.errors
    assert "\tDET\t" in (tmp_path / "b.conllu").read_text() and "OrigForm=дом" in (tmp_path / "b.conllu").read_text()
