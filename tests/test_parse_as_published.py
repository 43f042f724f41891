"""Parsing as published code did it: sentences that are cut, and the scorer against one word at a time."""

import copy
import itertools

import numpy as np
import pytest
import torch
from torch import nn

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL, Sentence, Word
from babelscope.encoders.load import Encoder
from babelscope.encoders.windows import pieces_of_words
from babelscope.tasks.biaffine import NONE
from babelscope.tasks.biaffine_as_published import PublishedBiaffine
from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model
from babelscope.tasks.parse import Parser, Parsing
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning


def chain(words):
    """Each word hangs on the one after it, the last on the root."""
    form = ("cat", "carries", "bigoldtree")
    return Sentence(
        str(words),
        tuple(
            Word(
                form[k % 3],
                "NOUN",
                (k + 1) % words and k + 2 if k + 1 < words else 0,
                "root" if k + 1 == words else "dep",
            )
            for k in range(words)
        ),
    )


@pytest.mark.parametrize("shared", [False, True])
def test_dropout_of_trees_is_of_all_words_of_a_sentence(encoder, shared):
    torch.manual_seed(0)
    parser = Parser(copy.deepcopy(encoder), None, 0.5, quirks=("sentence-dropout",) if shared else ())
    task = Parsing(parser, [chain(5), chain(5)])
    batch = task.batch(np.arange(2), torch.Generator())
    found = parser(batch.words) == 0
    assert bool((found == found[:, :1]).all()) == shared
    assert (found[0, 0] != found[1, 0]).any()


def cut(sentences, encoder, max_length=12):
    model = task_model(encoder, Design("parsing", max_length=max_length, quirks=("cut-sentences",)))
    return model, model.training(sentences, {"dev": sentences})


def test_training_sentences_end_at_pieces_and_others_at_words(encoder):
    """As the published loop: a word is added while it has room, and none after the first that has not."""
    sentences = [chain(words) for words in (2, 5, 9, 30)]
    model, task = cut(sentences, encoder)
    for sentence, shorter in zip(sentences, task.sentences, strict=True):
        (pieces,), read = pieces_of_words(encoder.tokenizer, [sentence.forms]), []
        for word, its in zip(sentence.words, pieces, strict=True):
            if len([piece for each in pieces[: len(read)] for piece in each]) + len(its) >= 12:
                break
            read.append(word)
        assert shorter.words == tuple(read)
    assert [len(sentence.words) for sentence in task.dev["dev"]] == [2, 5, 9, 12]
    assert model.module.max_length == encoder.max_length, "what is scored is read whole"
    las = {score.measure: score for score in model.scores(sentences)}["las"]
    assert las.denominators == (2, 5, 9, 12)


def test_what_hangs_on_a_word_that_is_cut_off_counts_in_no_loss_and_is_never_right(encoder):
    model, task = cut([chain(30)], encoder)
    batch = task.batch(np.array([0]), torch.Generator())
    words = len(task.sentences[0].words)
    assert batch.heads[0].tolist() == [*range(2, words + 1), NONE]
    assert batch.relations[0].tolist() == [DEPREL.index("dep")] * (words - 1) + [NONE]
    right = {score.measure: score.numerators[0] for score in model.scores([chain(12)])}["uas"]
    assert {score.measure: score.numerators[0] for score in model.scores([chain(30)])}["uas"] <= max(right, 11)


def scorer(quirks, seed=0, hidden=12):
    torch.manual_seed(seed)
    found = PublishedBiaffine(hidden, "small", quirks).eval()
    for parameter in found.parameters():
        nn.init.normal_(parameter, std=0.2)
    return found


def of_words(found, states, n):
    """Of one sentence of n words: logarithms of probabilities, of heads [n, n + 1], and of relations [n, n + 1, R]."""
    arcs = found(states[None, :n], torch.ones(1, n, dtype=torch.bool))
    relations = torch.stack(
        [
            torch.stack([found.relations(arcs.dependents[:, i], arcs.heads[:, j])[0] for j in range(n + 1)])
            for i in range(1, n + 1)
        ]
    )
    return arcs.scores[0, 1:].log_softmax(dim=1), relations.log_softmax(dim=2)


def a_batch(seed, longest=5):
    chance = np.random.default_rng(seed)
    lengths = [1, *chance.integers(1, longest + 1, 4).tolist(), longest]
    real = torch.arange(longest) < torch.tensor(lengths)[:, None]
    heads, relations = torch.full(real.shape, NONE), torch.full(real.shape, NONE)
    for row, n in enumerate(lengths):
        root = int(chance.integers(n))
        for word in range(n):
            others = [other for other in range(n) if other != word]
            heads[row, word] = 0 if word == root else 1 + int(chance.choice(others))
            relations[row, word] = int(chance.integers(len(DEPREL)))
    return torch.randn(len(lengths), longest, 12), real, heads, relations, lengths


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("quirks", [("unscored-root",), ("short-mean",), ("unscored-root", "short-mean")])
def test_the_loss_is_that_of_one_word_at_a_time(quirks, seed):
    found = scorer(quirks, seed)
    states, real, heads, relations, lengths = a_batch(seed)
    of_heads, of_relations = [], []
    for row, n in enumerate(lengths):
        by_head, by_relation = of_words(found, states[row], n)
        for word in range(n):
            head = int(heads[row, word])
            if head or "unscored-root" not in quirks:
                of_heads.append(-by_head[word, head])
            of_relations.append(-by_relation[word, head, relations[row, word]])
    words = sum(lengths)
    if "short-mean" in quirks:
        expected = (sum(of_heads) + sum(of_relations)) / (words - len(lengths))
    else:
        expected = sum(of_heads) / len(of_heads) + sum(of_relations) / words
    loss = found.loss(states, real, heads, relations)
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-5)
    loss.backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in found.parameters())


def test_without_a_score_of_the_root_the_heads_of_words_share_all_probability():
    found = scorer(("unscored-root",))
    by_head, _ = of_words(found, torch.randn(4, 12), 4)
    assert (by_head[:, 0].exp() == 0).all()
    torch.testing.assert_close(by_head[:, 1:].exp().sum(dim=1), torch.ones(4))
    alone, _ = of_words(found, torch.randn(1, 12), 1)
    assert alone[0, 0].exp() == 1


def trees_of(n):
    """All trees over n words with one root."""
    for heads in itertools.product(range(n + 1), repeat=n):
        ends = []
        for word in range(1, n + 1):
            for _ in range(n):
                word = heads[word - 1] if word else 0
            ends.append(word)
        if heads.count(0) == 1 and not any(ends):
            yield heads


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "quirks",
    [("unscored-root",), ("summed-probabilities",), ("unscored-root", "summed-probabilities"), ("short-mean",)],
)
def test_a_tree_is_the_best_of_all_trees(quirks, seed):
    found = scorer(quirks, seed)
    states, real, *_, lengths = a_batch(seed, 4)
    trees = found.trees(states, real)
    for row, n in enumerate(lengths):
        by_head, by_relation = of_words(found, states[row], n)
        unscored, summed = "unscored-root" in quirks, "summed-probabilities" in quirks
        worth = (by_head + by_relation.max(dim=2).values).exp() if summed else by_head.clone()
        if unscored:
            worth[:, 0] = 0  # one arc of every tree, so that it decides nothing
        worth = worth.detach()
        best = max(trees_of(n), key=lambda heads: sum(float(worth[word, head]) for word, head in enumerate(heads)))
        assert tuple(trees[row].heads) == best
        if summed:
            likeliest = [DEPREL[int(by_relation[word, head].argmax())] for word, head in enumerate(best)]
            assert trees[row].deprels == likeliest
        else:
            assert [deprel == "root" for deprel in trees[row].deprels] == [head == 0 for head in best]


def test_trees_and_loss_together_are_those_apart():
    found = scorer(("unscored-root", "short-mean", "summed-probabilities"))
    states, real, heads, relations, _ = a_batch(1)
    trees, loss = found.trees_and_loss(states, real, heads, relations)
    assert trees == found.trees(states, real)
    assert torch.equal(loss, found.loss(states, real, heads, relations))


@pytest.mark.parametrize("quirk", ["unscored-root", "short-mean", "summed-probabilities"])
def test_a_loss_that_is_no_mean_is_not_put_together(encoder, tmp_path, quirk):
    model = task_model(
        Encoder(copy.deepcopy(encoder.model), encoder.tokenizer, "tiny"), Design("parsing", quirks=(quirk,))
    )
    with pytest.raises(InputError, match=r"micro_tokens=16: .* is trained on whole batches; leave it out"):
        tune(model.module, model.training([chain(4)], {}), Tuning(steps=1, micro_tokens=16), 0, tmp_path)
