"""Running text, in which signs stand at words, is told from words that stand apart."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from babelscope.corpora.attached_signs import attached_signs
from babelscope.corpora.conllu import read_conllu


def found(text: str) -> tuple[int, int, str] | None:
    return attached_signs([line.split() for line in text.splitlines()])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The dog barks.\nIt is late!\nNo stop", (2, 8, "barks.")),
        ('Qal li "mhix sew", u (mar) .', (3, 6, '"mhix')),
        ("ئۇ كەلدى، دېدى .", (1, 3, "كەلدى،")),
        ("Il-kelb barra. U mar.", (1, 4, "mar.")),
        ("The dog barks .\nIt is late !", None),
        ("The dog barks .\nHe saw the U.S.\nIt is late .", None),
        ("Dr. Borg sab 5% ta' l-ilma , iċ- chairman qal 1,000 u 3.5 .", None),
        ("don't rock 'n' roll", None),
        ("...\n?!\n« »", None),
        ("", None),
    ],
)
def test_words_with_signs_are_counted(text: str, told: tuple[int, int, str] | None) -> None:
    assert found(text) == told


def test_few_such_words_are_no_running_text() -> None:
    many = "a word " * 50
    assert found(f"{many} barks!") is None and found("a word " * 9 + "barks!") == (1, 19, "barks!")


def sentences() -> Iterator[tuple[str, list[list[str]]]]:
    for path in sorted((Path(os.environ["BABELSCOPE_DATA"]) / "ud").glob("*/*test.conllu.gz")):
        yield path.name, [" ".join(one.forms).split() for one in read_conllu(path)[:400]]


@pytest.mark.skipif("BABELSCOPE_DATA" not in os.environ, reason="BABELSCOPE_DATA is not set")
def test_treebanks_have_words_that_stand_apart() -> None:
    read = dict(sentences())
    assert len(read) > 5 and {name: told for name, words in read.items() if (told := attached_signs(words))} == {}
    parts = [(name, words[k : k + 20]) for name, words in read.items() for k in range(0, len(words), 20)]
    assert [(name, told) for name, words in parts if (told := attached_signs(words))] == []
