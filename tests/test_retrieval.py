"""Retrieval of translations against a search sentence by sentence."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from babelscope.measures.retrieval import mutual_retrieval, retrieval_accuracy


def nearest_one_by_one(source, target) -> float:
    """The share of rows whose nearest row by cosine has the same number, by comparing every pair."""
    hits = 0
    for i, state in enumerate(source):
        cosines = [float(torch.dot(state, other) / (state.norm() * other.norm())) for other in target]
        hits += max(range(len(cosines)), key=cosines.__getitem__) == i
    return hits / len(source)


def nearest_both_ways(source, target) -> float:
    """The share of pairs whose cosine is above that of each of the two with any other sentence."""
    cosines = [[float(torch.dot(a, b) / (a.norm() * b.norm())) for b in target] for a in source]
    numbers = range(len(source))
    others = [[c for j in numbers if j != i for c in (cosines[i][j], cosines[j][i])] for i in numbers]
    return sum(all(cosines[i][i] > other for other in others[i]) for i in numbers) / len(source)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(2, 6))
def test_retrieval_is_a_search_over_all_pairs(seed, sentences, hidden):
    generator = torch.Generator().manual_seed(seed)
    source, target = (torch.randn(2, sentences, hidden, generator=generator, dtype=torch.double) for _ in range(2))
    expected = [nearest_one_by_one(*layer) for layer in zip(source, target, strict=True)]
    assert retrieval_accuracy(source, target).tolist() == expected


def test_every_sentence_finds_itself_whatever_its_length():
    states = torch.randn(20, 8, generator=torch.Generator().manual_seed(0))
    assert retrieval_accuracy(states, 3.0 * states) == 1.0


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(2, 6))
def test_mutual_retrieval_is_a_search_both_ways(seed, sentences, hidden):
    generator = torch.Generator().manual_seed(seed)
    source, target = (torch.randn(2, sentences, hidden, generator=generator, dtype=torch.double) for _ in range(2))
    target += source
    mutual = mutual_retrieval(source, target)
    assert mutual.tolist() == [nearest_both_ways(*layer) for layer in zip(source, target, strict=True)]
    assert (mutual <= retrieval_accuracy(source, target)).all()


def test_ties_are_not_retrieved_both_ways():
    assert mutual_retrieval(torch.ones(5, 3), torch.ones(5, 3)) == 0
    assert mutual_retrieval(torch.eye(5), torch.eye(5)) == 1
