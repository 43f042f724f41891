"""Which words are aligned: learnt, by similarity, and read from a file; and the words of parallel texts."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
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
from babelscope.corpora.word_alignment import ROUNDS, align_words, translation_posteriors
from babelscope.measures.formulas.alignment import flat_links, similarity_links
from babelscope.world import World

WORDS = st.lists(st.sampled_from(["a", "b", "c", "D", "d"]), max_size=4)


# IBM model 1.


def one_by_one(pairs: list) -> list[dict]:
    """IBM model 1 with dictionaries: for each sentence pair (place in the second, place in the first) -> posterior."""
    lowered = [([None, *map(str.casefold, first)], list(map(str.casefold, second))) for first, second in pairs]
    likely: dict = defaultdict(lambda: 1.0)
    for _ in range(ROUNDS):
        counts, totals = defaultdict(float), defaultdict(float)
        for first, second in lowered:
            for word in second:
                norm = sum(likely[word, one] for one in first)
                for one in first:
                    counts[word, one] += likely[word, one] / norm
                    totals[one] += likely[word, one] / norm
        likely = defaultdict(float, {pair: count / totals[pair[1]] for pair, count in counts.items()})
    return [
        {
            (j, i - 1): likely[word, one] / sum(likely[word, other] for other in first)
            for j, word in enumerate(second)
            for i, one in enumerate(first)
            if i
        }
        for first, second in lowered
    ]


@settings(max_examples=50)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_the_model_equals_one_with_dictionaries(pairs):
    found, expected = translation_posteriors(pairs), one_by_one(pairs)
    for (first, second), posterior, slow in zip(pairs, found, expected, strict=True):
        assert posterior.shape == (len(second), len(first))
        assert {place: posterior[place] for place in slow} == pytest.approx(slow)
    backward = one_by_one([(second, first) for first, second in pairs])
    for links, there, back in zip(align_words(pairs), expected, backward, strict=True):
        both = {(i, j): min(there[j, i], back[i, j]) for j, i in there}
        assert {link for link, sure in both.items() if sure > 0.5 + 1e-9} <= set(links)
        assert set(links) <= {link for link, sure in both.items() if sure > 0.5 - 1e-9}
        assert len({i for i, _ in links}) == len({j for _, j in links}) == len(links)


def test_known_translations_are_found():
    pairs = [(["the", "house"], ["das", "Haus"]), (["the", "book"], ["das", "Buch"]), (["a", "book"], ["ein", "Buch"])]
    assert align_words(3 * pairs)[:3] == [[(0, 0), (1, 1)]] * 3
    assert align_words([([], ["Haus"]), (["house"], [])]) == [[], []]


def test_what_is_learnt_of_the_world_is_mostly_right():
    """Of 300 sentences; the meanings of words are known there."""
    parallel = World().parallel(["qaa", "qae"], 300)
    found = align_words([(one.sentences["qaa"].forms, one.sentences["qae"].forms) for one in parallel])
    gold = [set(one.alignment("qaa", "qae")) for one in parallel]
    right = sum(len(one & set(links)) for one, links in zip(gold, found, strict=True))
    assert right / sum(map(len, found)) > 0.9 and right / sum(map(len, gold)) > 0.8


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


def test_posteriors_are_shares():
    (one,) = translation_posteriors([(["a", "b"], ["c", "d", "e"])])
    assert np.all(one > 0) and np.all(one.sum(axis=1) < 1)
