"""Sentences and their translations in pieces: links between words and pieces, and what is kept of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.corpora.alignment.links import SoftLinks
from babelscope.encoders.aligned_text import AlignedText, align_pieces, in_words, with_links
from babelscope.encoders.windows import pieces_of_words

WORDS = ["the", "cat", "sees", "carries", "treehouse", "tree", "."]
PAIRS = [("the cat sees", "sees the treehouse ."), ("treehouse .", "the carries cat")]
LINKS = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]]


def places(tokenizer, sentence: str) -> list[list[int]]:
    """Of each word where its pieces are."""
    numbers = iter(range(1000))
    return [[next(numbers) for _ in word] for word in pieces_of_words(tokenizer, [sentence.split()])[0]]


@st.composite
def linked(draw):
    sides = [
        draw(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=2, max_size=2)) for _ in "ab"
    ]
    pairs = [(" ".join(first), " ".join(second)) for first, second in sides]
    places = [st.tuples(st.integers(0, len(a) - 1), st.integers(0, len(b) - 1)) for a, b in sides]
    return pairs, [draw(st.lists(each, max_size=4, unique=True)) for each in places]


@settings(max_examples=40)
@given(linked())
def test_known_links_between_words_are_shared_by_their_pieces(tokenizer, other_tokenizer, drawn):
    pairs, links = drawn
    text = with_links(tokenizer, other_tokenizer, pairs, links)
    expected = {}
    for k, (first, second) in enumerate(pairs):
        own, other = places(tokenizer, first), places(other_tokenizer, second)
        for i, j in links[k]:
            expected |= dict.fromkeys(((k, a, b) for a in own[i] for b in other[j]), 1 / len(own[i]))
        assert text.sources[k] == tokenizer(first, add_special_tokens=False)["input_ids"]
        assert text.targets[k] == other_tokenizer(second, add_special_tokens=False)["input_ids"]
    columns = (column.tolist() for column in text.links)
    assert {(k, i, j): weight for k, i, j, weight in zip(*columns, strict=True)} == pytest.approx(expected)


@settings(max_examples=40)
@given(linked())
def test_links_between_pieces_are_links_between_words_again(tokenizer, other_tokenizer, drawn):
    pairs, links = drawn
    words = in_words(with_links(tokenizer, other_tokenizer, pairs, links).links, tokenizer, other_tokenizer, pairs)
    found = list(zip(*(column.tolist() for column in words[:3]), strict=True))
    assert found == sorted((k, i, j) for k, each in enumerate(links) for i, j in each)


def test_of_several_links_between_two_words_the_heaviest_counts(tokenizer):
    pieces = len(pieces_of_words(tokenizer, [["treehouse"]])[0][0])
    assert pieces > 2
    links = SoftLinks(np.array([0, 0, 0]), np.array([0, 1, 1]), np.array([1, 0, 2]), np.array([0.2, 0.6, 0.3]))
    words = in_words(links, tokenizer, tokenizer, [("treehouse", "treehouse")])
    assert [column.tolist() for column in words] == [[0], [0], [0], [0.6]]


def test_counts_are_of_own_pieces_and_of_all_that_are_before_them(tokenizer):
    text = AlignedText(
        [[3, 5], [4]],
        [[9, 2, 8], [9]],
        SoftLinks(*np.array([[0, 0, 1], [0, 1, 0], [0, 1, 0]]), np.array([0.5, 0.7, 1])),
    )
    counts = text.counts(8, 4).toarray()
    assert counts.shape == (4, 8)
    assert counts[1].tolist() == [0, 0, 0, 0.5, 1, 0, 0, 0] and counts[[0, 2, 3]].sum() == 0


def test_what_is_saved_is_read_again(tokenizer, other_tokenizer, tmp_path):
    text = with_links(tokenizer, other_tokenizer, PAIRS, LINKS)
    text.save(tmp_path / "text.safetensors")
    again = AlignedText.load(tmp_path / "text.safetensors")
    assert again.sources == text.sources and again.targets == text.targets
    for column, other in zip(again.links, text.links, strict=True):
        assert column == pytest.approx(other, rel=1e-6)


def test_a_sentence_without_pieces_has_no_links(tokenizer):
    pairs = [("the cat", "the cat"), ("the tree", "​"), ("the cat", "the cat")]
    text = align_pieces(tokenizer, tokenizer, pairs)
    assert len(text.sources) == len(text.targets) == 3 and text.targets[1] == []
    assert set(text.links.pair.tolist()) == {0, 2}
