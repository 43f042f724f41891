import itertools
import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babelscope.tasks.bilstm.crf import Crf, bio_allowed

BIO = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")


def random_case(seed, labels=None):
    """A field, scores and a mask of one to three sentences of one to four words, in float64."""
    torch.manual_seed(seed)
    chance = random.Random(seed)
    sentences, words, labels = chance.randint(1, 3), chance.randint(1, 4), labels or chance.randint(1, 4)
    crf = Crf(labels).double()
    for parameter in crf.parameters():
        torch.nn.init.normal_(parameter)
    lengths = torch.tensor([words, *(chance.randint(1, words) for _ in range(sentences - 1))])
    return crf, 2 * torch.randn(sentences, words, labels).double(), torch.arange(words) < lengths[:, None]


def score_of(crf, scores, path):
    """The definition: the sum of the start, each word's own score, each transition, and the end."""
    moves = sum(crf.transitions[a, b].item() for a, b in itertools.pairwise(path))
    own = sum(row[label].item() for row, label in zip(scores, path, strict=True))
    return crf.start[path[0]].item() + own + moves + crf.end[path[-1]].item()


def all_paths(crf, scores, real):
    """For each sentence, every sequence of labels with its score."""
    for row, mask in zip(scores, real, strict=True):
        row = row[mask]
        yield {path: score_of(crf, row, path) for path in itertools.product(range(row.shape[1]), repeat=len(row))}


def is_bio(path):
    labels = [BIO[number] for number in path]
    return all(
        label[0] != "I" or before in (f"B{label[1:]}", label) for before, label in itertools.pairwise(["O", *labels])
    )


@pytest.mark.parametrize("block", range(10))
def test_equals_enumeration(block):
    """A thousand cases in all: the partition, every gold score, and the best sequence."""
    for seed in range(100 * block, 100 * block + 100):
        crf, scores, real = random_case(seed)
        partition, best = crf.log_partition(scores, real), crf.best(scores, real)
        for sentence, paths in enumerate(all_paths(crf, scores, real)):
            expected = math.log(math.fsum(math.exp(score) for score in paths.values()))
            assert partition[sentence].item() == pytest.approx(expected, abs=1e-6)
            winner = max(paths, key=paths.__getitem__)
            assert best[sentence][real[sentence]].tolist() == list(winner)
            labels = torch.zeros(real.shape, dtype=torch.int64)
            labels[sentence, : len(winner)] = torch.tensor(winner)
            gold = crf.gold_score(scores, labels, real)[sentence]
            assert gold.item() == pytest.approx(paths[winner], abs=1e-9)


def test_constrained_decoding_equals_enumeration_of_what_is_allowed():
    changed = 0
    for seed in range(150):
        crf, scores, real = random_case(seed, labels=len(BIO))
        best, free = crf.best(scores, real, bio_allowed(BIO)), crf.best(scores, real)
        changed += not torch.equal(best, free)
        for sentence, paths in enumerate(all_paths(crf, scores, real)):
            winner = max(filter(is_bio, paths), key=paths.__getitem__)
            assert best[sentence][real[sentence]].tolist() == list(winner)
    assert changed > 30


def test_gradients_equal_finite_differences():
    crf, scores, real = random_case(3, labels=3)
    labels = torch.randint(3, real.shape)

    def loss(scores, *parameters):  # gradcheck nudges the parameters in place
        return crf.loss(scores, labels, real)

    assert torch.autograd.gradcheck(loss, (scores.requires_grad_(), *crf.parameters()))


@given(st.integers(0, 10**6), st.floats(-5, 5))
def test_a_constant_changes_no_likelihood(seed, constant):
    crf, scores, real = random_case(seed)
    labels = torch.randint(scores.shape[2], real.shape)
    loss = crf.loss(scores, labels, real)
    torch.testing.assert_close(crf.loss(scores + constant, labels, real), loss)
    assert loss >= -1e-12
    assert torch.equal(crf.best(scores + constant, real), crf.best(scores, real))


@given(st.integers(0, 10**6))
def test_padding_changes_nothing(seed):
    crf, scores, real = random_case(seed)
    labels = torch.randint(scores.shape[2], real.shape)
    wider = torch.cat([scores, 50 * torch.randn(len(scores), 2, scores.shape[2]).double()], dim=1)
    more = torch.cat([real, torch.zeros(len(real), 2, dtype=torch.bool)], dim=1)
    torch.testing.assert_close(crf.log_partition(wider, more), crf.log_partition(scores, real))
    assert torch.equal(crf.best(wider, more)[:, : real.shape[1]], crf.best(scores, real))
    strange = torch.cat([labels, torch.full((len(real), 2), -1)], dim=1)
    torch.testing.assert_close(crf.loss(wider, strange, more), crf.loss(scores, labels, real))


def test_what_bio_allows():
    first, following = bio_allowed(BIO)
    assert [label for label, may in zip(BIO, first.tolist(), strict=True) if may] == ["O", "B-LOC", "B-PER"]
    before = {b: [a for a in BIO if following[BIO.index(a), BIO.index(b)]] for b in BIO}
    assert before["I-LOC"] == ["B-LOC", "I-LOC"]
    assert before["I-PER"] == ["B-PER", "I-PER"]
    assert before["O"] == before["B-LOC"] == list(BIO)
