"""Which words are aligned by similarity, and read from a file; and the words of parallel texts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.core.errors import DataError, InputError
from babelscope.core.examples import Multiword, Sentence, Word
from babelscope.corpora.parallel_words import (
    AlignmentFile,
    TextWords,
    find_alignments,
    find_words,
    written_words,
)
from babelscope.measures.formulas.alignment import flat_links, similarity_links

# Similarity.


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=4))
def test_similar_words_are_each_others_nearest_in_their_sentence(seed, lengths):
    generator = torch.Generator().manual_seed(seed)
    sentences = [(["x"] * one, ["y"] * other) for one, other in lengths]
    sides = [torch.randn(2, sum(counts), 5, generator=generator).double() for counts in zip(*lengths, strict=True)]
    starts, expected = [0, 0], []
    for counts in lengths:
        own, other = (side[1, start : start + count] for side, start, count in zip(sides, starts, counts, strict=True))
        cosines = [[float(torch.cosine_similarity(a, b, dim=0)) for b in other] for a in own]
        expected.append(
            [
                (i, j)
                for i in range(len(own))
                for j in range(len(other))
                if cosines[i][j] == max(cosines[i]) == max(row[j] for row in cosines)
            ]
        )
        starts = [start + count for start, count in zip(starts, counts, strict=True)]
    assert similarity_links(*sides, 1, sentences) == expected


def test_a_layer_that_is_not_there():
    with pytest.raises(InputError, match="aligner_layer=3, but the encoder that aligns has 2 layers"):
        similarity_links(torch.ones(3, 1, 4), torch.ones(3, 1, 4), 3, [(["a"], ["b"])])


def test_links_are_counted_through_all_sentences_without_signs():
    sentences = [(["I", "see", "."], ["ich", "sehe", "."]), (["no", "2"], ["2", "nein"])]
    assert flat_links([[(0, 0), (1, 1), (2, 2)], [(0, 1), (1, 0)]], sentences).tolist() == [
        [0, 0], [1, 1], [3, 4], [4, 3],
    ]  # fmt: skip
    assert flat_links([[], []], sentences).shape == (0, 2)


# Words.


def test_multiword_tokens_are_words_as_they_are_written():
    words = tuple(Word(form, "X", 0, "root") for form in ("Va", "a", "le", "parc", "de", "le", "roi"))
    sentence = Sentence("1", words, (Multiword(2, 3, "au"), Multiword(5, 6, "du")))
    assert written_words(sentence) == ["Va", "au", "parc", "du", "roi"]
    assert written_words(Sentence("2", words[:1])) == ["Va"]


@pytest.fixture
def texts(tmp_path):
    """A function that writes two texts and names them."""

    def write(first: str, second: str) -> tuple[str, str]:
        (tmp_path / "en.txt").write_text(first, encoding="utf-8")
        (tmp_path / "de.txt.gz").write_bytes(gzip.compress(second.encode()))
        return f"text:en:{tmp_path / 'en.txt'}", f"text:de:{tmp_path / 'de.txt.gz'}"

    return write


def test_words_of_texts_stand_between_white_space(texts):
    words = find_words(*texts("I see .\n\nno\n", "ich  sehe\nleer\nnein"))
    assert isinstance(words, TextWords) and words.languages == ("en", "de")
    assert words.read() == [(["I", "see", "."], ["ich", "sehe"]), ([], ["leer"]), (["no"], ["nein"])]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("a\nb\n", "c\n", r"has 2 lines and text:de:.* has 1; parallel texts"),
        (
            "a\n",
            "我看見一本很大的紅色的書在桌子上面了\n",
            "its words have 18 letters on average.*put a space between words",
        ),
        ("a\n", "\n", "has no words"),
        ("a\n" * 20_001, "b\n", r"20001 lines, and 20000 are read at most; cut both texts: head -n 20000"),
    ],
)
def test_texts_that_are_not_words_of_the_same_sentences(texts, first, second, message):
    with pytest.raises(InputError, match=message):
        find_words(*texts(first, second))


def test_data_of_two_kinds_or_one_language(texts):
    first, second = texts("a\n", "b\n")
    with pytest.raises(InputError, match="one is a text and the other is not"):
        find_words(first, "UD_German-PUD")
    with pytest.raises(InputError, match="are both en"):
        find_words(first, second.replace("text:de", "text:en"))


# Files of alignments.

PAIRS = [(["a", "b"], ["c"]), (["d"], ["e", "f"])]


def alignments(folder: Path, text: str) -> Path:
    file = folder / "words.align"
    file.write_text(text, encoding="utf-8")
    return file


def test_alignments_are_read_as_pharaoh_writes_them(tmp_path, texts):
    file = alignments(tmp_path, "0-0 1-0\n\n")
    found = find_alignments(str(file), find_words(*texts("a b\nd\n", "c\ne f\n")))
    assert found.read(PAIRS) == [[(0, 0), (1, 0)], []]
    file.write_text("0-0\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="the file has changed since the study was planned"):
        found.read(PAIRS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-0\n", "words.align: 1 lines for 2 sentence pairs"),
        ("0-0\n\n\n", "words.align: 3 lines for 2 sentence pairs"),
        ("0-0\n0-2\n", "words.align:2: 0-2: the second sentence has 2 words, counted from 0"),
        ("2-0\n\n", "words.align:1: 2-0: the first sentence has 2 words"),
        ("0-0 1\n\n", "words.align:1: '1' is no link; links are pairs of numbers such as 0-0 1-2"),
        ("0-0\n0--1\n", "words.align:2: '0--1' is no link"),
        (f"{'9' * 5000}-0\n\n", r"words.align:1: '9{99} is no link"),
        ("0p0\n\n", "words.align:1: '0p0' is no link"),
    ],
)
def test_a_line_that_does_not_fit_is_named(tmp_path, texts, text, message):
    with pytest.raises(DataError, match=message):
        find_alignments(str(alignments(tmp_path, text)), find_words(*texts("a b\nd\n", "c\ne f\n")))


def test_a_file_of_alignments_that_is_not_there(tmp_path, texts):
    words = find_words(*texts("a\n", "b\n"))
    with pytest.raises(DataError, match=r"none\.align: cannot be read"):
        find_alignments(str(tmp_path / "none.align"), words)


def test_the_place_of_a_file_is_the_users(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    alignments(tmp_path, "0-0\n1-1\n")
    digest = find_alignments("~/words.align", find_words(*two_lines(tmp_path))).sha256
    assert AlignmentFile(file="~/words.align", sha256=digest).read([(["a"], ["b"]), (["c", "d"], ["e", "f"])])[1] == [
        (1, 1)
    ]


def two_lines(folder: Path) -> tuple[str, str]:
    for code, text in (("en", "a\nc d\n"), ("de", "b\ne f\n")):
        (folder / code).write_text(text, encoding="utf-8")
    return f"text:en:{folder / 'en'}", f"text:de:{folder / 'de'}"
