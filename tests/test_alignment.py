"""Aligned words: what may not change links, what is known to translate what, counts, error rates, and faults."""

from __future__ import annotations

from ast import literal_eval
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aligner_quality import of_world
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.corpora.alignment import align as aligning
from babelscope.corpora.alignment import layout, learning
from babelscope.corpora.alignment.align import align, align_words, soft_links
from babelscope.corpora.alignment.error_rate import alignment_quality
from babelscope.corpora.alignment.links import SoftLinks, counts, hard_links
from processes import outputs_of

SENTENCES = st.lists(st.integers(-2, 6), min_size=1, max_size=12)
PAIRS: Any = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=8)


def weights(pairs: list) -> list[np.ndarray]:
    """[first's words, second's words] of each pair: the weights of all links, also of the lightest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aligning, "LIGHTEST", 0)
        return dense(soft_links(pairs), pairs)


def dense(links: SoftLinks, pairs: list) -> list[np.ndarray]:
    arrays = [np.zeros((len(first), len(second))) for first, second in pairs]
    for pair, source, target, weight in zip(*links, strict=True):
        arrays[pair][source, target] = weight
    return arrays


def same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for array, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, other, rtol=1e-9, atol=1e-12)


# What may not change links.


@settings(max_examples=25)
@given(PAIRS)
def test_links_are_of_both_sides_alike(pairs):
    same(weights([(second, first) for first, second in pairs]), [array.T for array in weights(pairs)])


@settings(max_examples=25)
@given(PAIRS, st.randoms(use_true_random=False), st.integers(1, 60), st.integers(1, 60))
def test_the_order_of_pairs_and_how_they_are_laid_out_change_nothing(pairs, random, block, batch):
    order = random.sample(range(len(pairs)), len(pairs))
    expected = weights(pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "BLOCK", block)
        patch.setattr(layout, "BATCH", batch)
        same(weights([pairs[k] for k in order]), [expected[k] for k in order])


@settings(max_examples=25)
@given(PAIRS, st.permutations(range(-2, 7)), st.permutations(range(-2, 7)))
def test_what_types_are_called_changes_nothing(pairs, first_names, second_names):
    named = [
        ([10 * first_names[word] for word in first], [second_names[word] - 5 for word in second])
        for first, second in pairs
    ]
    same(weights(named), weights(pairs))


@settings(max_examples=25)
@given(PAIRS)
def test_soft_links_are_in_order_and_those_of_a_word_sum_to_one_at_most(pairs):
    links = soft_links(pairs)
    assert all(one < other for one, other in pairwise(zip(*links[:3], strict=True)))
    assert np.all(links.weight > aligning.LIGHTEST)
    for array, heavy in zip(weights(pairs), dense(links, pairs), strict=True):
        assert max(array.sum(axis=0).max(), array.sum(axis=1).max()) <= 1 + 1e-12
        np.testing.assert_array_equal(np.where(array > aligning.LIGHTEST, array, 0), heavy)


@settings(max_examples=50)
@given(st.lists(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), max_size=4), max_size=4))
def test_hard_links_are_the_heaviest_of_both_their_words(tables):
    """Of equal ones the first."""
    rows = [(*place, table[place[0]][place[1]]) for table in tables for place in product(range(len(table)), range(4))]
    pair = [k for k, table in enumerate(tables) for _ in range(4 * len(table))]
    kept = [(k, i, j, weight) for k, (i, j, weight) in zip(pair, rows, strict=True) if weight]
    columns = [np.array(column) for column in zip(*kept, strict=True)]
    links = SoftLinks(*columns) if kept else SoftLinks.none()
    expected = []
    for table in tables:
        by_row = {i: row.index(max(row)) for i, row in enumerate(table) if any(row)}
        by_column = {j: column.index(max(column)) for j, column in enumerate(zip(*table, strict=True)) if any(column)}
        expected.append([(i, j) for i, j in by_row.items() if by_column[j] == i])
    assert hard_links(links, len(tables)) == expected


def test_the_same_pairs_have_the_same_links_in_any_process():
    program = """
from hashlib import sha256
from babelscope.corpora.alignment.align import soft_links
from babelscope.world import World
types = {}
def numbers(text):
    return [types.setdefault(word, len(types)) for word in text.split()]
text = World().parallel_text("qaa", "qae", 40)
pairs = [(numbers(first), numbers(second)) for first, second in text]
print(sha256(b"".join(column.tobytes() for column in soft_links(pairs))).hexdigest())
"""
    assert len(outputs_of(program, 2)) == 1


# What is known to translate what.


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("order", ["same", "mirrored", "two neighbours swapped"])
def test_a_bijective_lexicon_is_found(order, seed):
    random = np.random.default_rng(seed)
    pairs, gold = [], []
    for _ in range(150):
        first = random.choice(20, size=random.integers(1, 9), replace=False)
        places = list(range(len(first)))[:: -1 if order == "mirrored" else 1]
        if "swapped" in order and len(first) > 1:
            k = random.integers(1, len(first))
            places[k - 1], places[k] = places[k], places[k - 1]
        pairs.append((first.tolist(), (100 - first[places]).tolist()))
        gold.append(sorted((i, j) for j, i in enumerate(places)))
    assert align(pairs) == gold


def test_case_does_not_count():
    words = of_world("qab", 30).pairs
    shouted = [([word.upper() for word in first], second) for first, second in words[::2]]
    mixed = [pair for both in zip(shouted, words[1::2], strict=True) for pair in both]
    assert align_words(mixed) == align_words(words)


def test_known_translations_are_found_and_a_sentence_without_words_has_no_links():
    pairs = [(["the", "house"], ["das", "Haus"]), (["the", "book"], ["das", "Buch"]), (["a", "book"], ["ein", "Buch"])]
    assert align_words([*3 * pairs, ([], ["Haus"]), (["house"], []), ([], [])]) == [[(0, 0), (1, 1)]] * 9 + [[]] * 3
    assert align_words([]) == align([]) == [] and len(soft_links([]).pair) == 0


@pytest.mark.parametrize(("code", "bar"), [("qab", 0.02), ("qae", 0.06), ("qaf", 0.03), ("qai", 0.04)])
def test_what_is_learnt_of_the_world_is_right_and_better_than_by_model_1(code, bar, monkeypatch):
    _, words, gold, possible = of_world(code, 200)
    rate = alignment_quality(align_words(words), gold, possible).error_rate
    monkeypatch.setattr(learning, "ROUNDS_ALONE", 6)
    monkeypatch.setattr(learning, "ROUNDS_TOGETHER", 0)
    monkeypatch.setattr(learning.Direction, "in_chain", lambda self, block: (self.alone(block), 0))
    by_model_1 = alignment_quality(align_words(words), gold, possible).error_rate
    assert rate < bar and rate < 0.95 * by_model_1


def test_the_example_on_the_page_gives_what_stands_below_it():
    page = (Path(__file__).parent.parent / "docs" / "alignment.md").read_text(encoding="utf-8")
    example = page.partition("```python\n")[2].partition("```")[0]
    called, _, said = example.partition("\nalign_words(")[2].partition("\n# ")
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102
    assert eval(f"align_words({called}", names) == literal_eval(said.partition("\n")[0])  # noqa: S307
    assert names["counts"](names["links"], names["source"], names["target"]).shape == (4, 4)


# Counts and error rates.


@settings(max_examples=30)
@given(PAIRS, st.integers(1, 4))
def test_counts_are_sums_of_weights_by_type(pairs, kinds):
    """Types may be named otherwise than they were to be aligned."""
    sides = [[[word % kinds for word in pair[side]] for pair in pairs] for side in (0, 1)]
    links = soft_links(pairs)
    expected = np.zeros([1 + max(max(each) for each in side) for side in reversed(sides)])
    for pair, source, target, weight in zip(*links, strict=True):
        expected[sides[1][pair][target], sides[0][pair][source]] += weight
    found = counts(links, *sides)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)


def test_counts_of_other_sentences_are_refused():
    links = SoftLinks(np.array([1]), np.array([0]), np.array([2]), np.array([0.5]))
    for second in ([[0, 1, 2]], [[0, 1, 2], [0, 1]]):
        with pytest.raises(InputError, match="links of words that the second sentences lack; give the sentences that"):
            counts(links, [[0], [0]], second)
    assert counts(SoftLinks.none(), [], []).shape == (0, 0)


LINKS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=5)


@settings(max_examples=100)
@given(st.lists(st.tuples(LINKS, LINKS, LINKS), min_size=1, max_size=3))
def test_the_error_rate_is_what_och_and_ney_say(sentences):
    found, sure, possible = map(list, zip(*sentences, strict=True))
    links = wanted = right = allowed = 0
    for own, own_sure, own_possible in sentences:
        links, wanted = links + len(set(own)), wanted + len(set(own_sure))
        for link in set(own):
            right += link in own_sure
            allowed += link in own_sure or link in own_possible
    if not links or not wanted:
        with pytest.raises(InputError, match="sure ones; there is nothing to judge"):
            alignment_quality(found, sure, possible)
        return
    expected = (allowed / links, right / wanted, 1 - (right + allowed) / (links + wanted))
    assert alignment_quality(found, sure, possible) == pytest.approx(expected)
    assert alignment_quality(found, sure) == pytest.approx(
        (right / links, right / wanted, 1 - 2 * right / (links + wanted))
    )


def test_a_perfect_alignment_has_no_error():
    links = [[(0, 0), (1, 2)], []]
    assert alignment_quality(links, links) == (1, 1, 0)
    assert alignment_quality([[(1, 1)], []], links).error_rate == 1
    with pytest.raises(InputError, match="links of 2, 1 and 1 sentence pairs; give equally many"):
        alignment_quality(links, links[:1])


# Faults.


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([([1], [2]), ([], [3])], "pair 2: the first sentence is empty; leave out pairs that lack a side"),
        ([([1], [])], "pair 1: the second sentence is empty"),
        ([([1], [2]), ([1] * 1024, [2] * 1025)], "pair 2: 1,024 words or pieces, and 1,025 in the translation"),
        ([([1.5], [2])], "the words of the first sentences are float64; give an integer for each, its type"),
        ([([1], ["a"])], "the words of the second sentences are <U1; give an integer"),
        ([([True], [2])], "the words of the first sentences are bool"),
    ],
)
def test_what_is_no_pair_of_sentences_is_named(pairs, message):
    with pytest.raises(InputError, match=message):
        soft_links(pairs)
