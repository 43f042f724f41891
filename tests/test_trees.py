from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.core.errors import InputError
from babelscope.tasks import trees
from babelscope.tasks.trees import single_root_trees


def decoded(scores):
    """The tree of one sentence."""
    return single_root_trees(scores[None], np.array([len(scores) - 1]))[0].tolist()


def is_tree(heads):
    """One word hangs on the root, and from every word the heads lead there."""
    for word in range(1, len(heads) + 1):
        for _ in heads:
            word = heads[word - 1] if word else 0
        if word:
            return False
    return heads.count(0) == 1


def total(scores, heads):
    return sum(scores[word, head] for word, head in enumerate(heads, start=1))


@cache
def all_trees(words):
    return [heads for heads in product(range(words + 1), repeat=words) if is_tree(list(heads))]


def best_by_search(scores):
    return max(all_trees(len(scores) - 1), key=lambda heads: total(scores, heads))


matrices = st.integers(1, 8).flatmap(
    lambda words: st.lists(
        st.integers(-5, 5), min_size=(words + 1) ** 2, max_size=(words + 1) ** 2
    ).map(lambda cells: np.array(cells, dtype=float).reshape(words + 1, words + 1))
)  # fmt: skip
"""Small whole numbers: sums are exact and ties are many."""


@pytest.mark.parametrize(("words", "cases"), [(1, 5), (2, 40), (3, 100), (4, 100), (5, 40), (6, 6)])
def test_trees_equal_exhaustive_search(words, cases):
    scores = np.random.default_rng(words).normal(size=(cases, words + 1, words + 1))
    found = single_root_trees(scores, np.full(cases, words))
    assert [tuple(heads) for heads in found.tolist()] == [best_by_search(one) for one in scores]


def test_the_number_of_trees_is_cayleys():
    """n words have n ** (n - 1) rooted trees, so the search above sees them all."""
    assert [len(all_trees(words)) for words in range(1, 6)] == [1, 2, 9, 64, 625]


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.integers(-2, 2), min_size=(n + 1) ** 2, max_size=(n + 1) ** 2)))
def test_with_ties_the_tree_is_one_of_the_best(cells):
    width = round(len(cells) ** 0.5)
    scores = np.array(cells, dtype=float).reshape(width, width)
    assert total(scores, decoded(scores)) == total(scores, best_by_search(scores))


def test_trees_equal_those_of_stanza():
    oracle = pytest.importorskip("stanza.models.common.chuliu_edmonds").chuliu_edmonds_one_root
    chance = np.random.default_rng(0)
    lengths = chance.integers(1, 31, size=300)
    # The oracle multiplies the least score by the number of words: it needs negative ones, such as log-probabilities.
    scores = -chance.exponential(size=(300, 31, 31))
    for sentence, length, heads in zip(scores, lengths, single_root_trees(scores, lengths), strict=True):
        assert heads[:length].tolist() == oracle(sentence[: length + 1, : length + 1])[1:].tolist()
        assert (heads[length:] == -1).all()


@given(matrices)
def test_what_is_found_is_a_tree_with_one_root(scores):
    heads = decoded(scores)
    assert is_tree(heads)
    assert decoded(scores) == heads


@given(matrices, st.data())
def test_a_constant_for_all_heads_of_a_word_changes_nothing(scores, data):
    word = data.draw(st.integers(1, len(scores) - 1))
    moved = scores.copy()
    moved[word] += data.draw(st.integers(-1000, 1000))
    assert decoded(moved) == decoded(scores)


@given(st.lists(matrices, min_size=1, max_size=5))
def test_sentences_do_not_depend_on_their_batch(sentences):
    lengths = np.array([len(one) - 1 for one in sentences])
    batch = np.full((len(sentences), 12, 12), np.nan)  # what is past the end is not read
    for row, one in zip(batch, sentences, strict=True):
        row[: len(one), : len(one)] = one
    found = single_root_trees(batch, lengths)
    assert [heads[:n].tolist() for heads, n in zip(found, lengths, strict=True)] == [decoded(one) for one in sentences]
    assert ((found == -1) == (np.arange(11) >= lengths[:, None])).all()


def test_chunks_change_nothing(monkeypatch):
    scores = np.random.default_rng(5).normal(size=(40, 11, 11))
    lengths = np.random.default_rng(6).integers(0, 11, size=40)
    whole = single_root_trees(scores, lengths)
    monkeypatch.setattr(trees, "CELLS_PER_CHUNK", 300)
    assert (single_root_trees(scores, lengths) == whole).all()


def test_the_root_costs_what_it_costs():
    """A second root would score a thousand more, and only one word may take it."""
    scores = np.zeros((5, 5))
    scores[1:, 0] = 1000, 1001, 1003, 1002
    scores[3, 4] = 0.5
    assert decoded(scores).count(0) == 1
    assert decoded(scores)[2] == 0


def test_a_long_sentence():
    scores = np.random.default_rng(0).normal(size=(301, 301))
    heads = decoded(scores)
    assert is_tree(heads)
    greedy = np.where(np.eye(301, dtype=bool), -np.inf, scores)[1:, 1:].max(axis=1).sum()
    assert greedy - 5 < total(scores, heads)


def test_differences_in_single_precision_are_kept():
    """Cycles of arcs that differ in the last digits of float32, beside large scores."""
    scores = np.full((4, 4), -1e4, dtype=np.float32)
    scores[1, 2], scores[2, 1] = 1e4, np.nextafter(np.float32(1e4), np.float32(2e4))
    scores[1, 3] = scores[2, 3] = 9e3
    assert decoded(scores) == [3, 1, 0]


@settings(max_examples=60)
@given(st.integers(2, 5).flatmap(lambda n: st.tuples(st.permutations(range(1, n + 1)), st.randoms())))
def test_forbidden_arcs_are_used_in_no_tree(case):
    """All arcs are forbidden but those of one tree, and some more."""
    order, chance = case
    heads = {word: chance.choice(order[:place]) if place else 0 for place, word in enumerate(order)}
    scores = np.full((len(order) + 1,) * 2, -np.inf)
    for word, head in [*heads.items(), (chance.choice(order), chance.choice(order))]:
        scores[word, head] = chance.uniform(-3, 3)
    found = decoded(scores)
    assert np.isfinite(total(scores, found))
    assert total(scores, found) == pytest.approx(total(scores, best_by_search(scores)))  # of equal trees, any will do


def test_no_tree_left_is_refused():
    scores = np.zeros((2, 4, 4))
    scores[1, 1:, 0] = -np.inf
    with pytest.raises(InputError, match="sentence 1: so many arcs are forbidden"):
        single_root_trees(scores, np.array([3, 3]))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_a_number_is_refused(value):
    scores = np.zeros((3, 4, 4), dtype=np.float32)
    scores[2, 1, 3] = value
    assert single_root_trees(scores, np.array([3, 3, 2])).shape == (3, 3)
    with pytest.raises(InputError, match=f"sentence 2: the score of head 3 for word 1 is {value}"):
        single_root_trees(scores, np.array([3, 3, 3]))


def test_nothing_to_decode():
    assert single_root_trees(np.zeros((0, 1, 1)), np.zeros(0, dtype=int)).shape == (0, 0)
    assert single_root_trees(np.zeros((1, 3, 3)), np.array([0])).tolist() == [[-1, -1]]
