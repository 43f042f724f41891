"""The scorer of published code, against one word at a time and against what that code gave."""

import copy
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL
from babelscope.encoders.load import Encoder
from babelscope.tasks.as_published import OF_TREES
from babelscope.tasks.biaffine import NONE, Biaffine
from babelscope.tasks.biaffine_as_published import OF_THE_SCORER, PublishedBiaffine
from babelscope.tasks.design import Design
from babelscope.tasks.models import task_model
from babelscope.tasks.parse import EncodedSentences, Parser
from babelscope.tuning.memory import portions
from treebank import chain

DATA = Path(__file__).parent / "data"
PUBLISHED, DECODED = (json.loads((DATA / f"published_{name}.json").read_text()) for name in ("parser", "decoding"))
"""Losses and trees of the code of Wu et al., trees of that of Muller et al., as they were computed with it."""


@pytest.fixture(scope="module")
def encoder(encoder):
    """A copy, since models leave it in training."""
    return Encoder(copy.deepcopy(encoder.model), encoder.tokenizer, encoder.name)


@pytest.fixture
def tiny(encoder):
    return Encoder(copy.deepcopy(encoder.model), encoder.tokenizer, "tiny")


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
@pytest.mark.parametrize(
    "quirks", [("unscored-root",), ("short-mean",), ("self-arcs",), ("self-arcs", "unscored-root", "short-mean")]
)
def test_the_loss_is_that_of_one_word_at_a_time(quirks, seed):
    found = scorer(quirks, seed)
    states, real, heads, relations, lengths = a_batch(seed)
    losses = []
    for row, n in enumerate(lengths):
        by_head, by_relation = of_words(found, states[row], n)
        for word in range(n):
            head = int(heads[row, word])
            if head or "unscored-root" not in quirks:
                losses.append(-by_head[word, head])
            losses.append(-by_relation[word, head, relations[row, word]])
    divisor = sum(lengths) - (len(lengths) if "short-mean" in quirks else 0)
    loss = found.loss(states, real, heads, relations)
    torch.testing.assert_close(loss, sum(losses) / divisor, atol=1e-5, rtol=1e-5)
    loss.backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in found.parameters())


def test_which_heads_share_all_probability():
    """With the root, other words alone, or other words and itself; a word that is alone hangs on the root."""
    states = torch.randn(4, 12)
    shares = {}
    for quirks in (("short-mean",), ("unscored-root",), ("unscored-root", "self-arcs")):
        by_head, _ = of_words(scorer(quirks), states, 4)
        torch.testing.assert_close(by_head.exp().sum(dim=1), torch.ones(4))
        shares[quirks] = by_head.exp() > 0
    itself, root = torch.eye(4, dtype=torch.bool), torch.zeros(4, 5, dtype=torch.bool)
    root[:, 0] = True
    itself = torch.cat([root[:, :1] & False, itself], dim=1)
    assert shares["short-mean",].equal(~itself)
    assert shares["unscored-root",].equal(~itself & ~root)
    assert shares["unscored-root", "self-arcs"].equal(~root)
    alone, _ = of_words(scorer(("unscored-root",)), states[:1], 1)
    assert alone[0, 0].exp() == 1


def test_the_scorer_starts_as_the_published_one():
    """Its bounds; and without the state of one word, a relation has its constant alone."""
    torch.manual_seed(0)
    found = PublishedBiaffine(768, "underspecified", ("published-scorer",))
    bounds = {
        found.arc.weight: 0.00477, found.arc.bias: 0.00477, found.layer.weight: 1 / 768**0.5,
        found.layer.bias: 1 / 768**0.5, found.label.weight: 1 / 128**0.5, found.constant: 1 / 128**0.5,
    }  # fmt: skip
    for weights, bound in bounds.items():
        assert 0.9 * bound < weights.abs().max() < 1.001 * bound
    assert sum(weights.numel() for weights in (found.label.weight, found.constant)) == 37 * 128 * 128 + 37
    words, nothing = torch.randn(3, 128), torch.zeros(3, 128)
    for pair in ((words, nothing), (nothing, words)):
        torch.testing.assert_close(found.relations(*pair), found.constant.expand(3, -1))


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: str(case["seed"]))
def test_losses_and_trees_are_those_of_the_published_code(case):
    """It was run on these sentences, with [CLS] in the root's place, further pieces after the words, and padding."""
    chance = np.random.default_rng(case["seed"])
    found = PublishedBiaffine(12, "small", tuple(OF_THE_SCORER - {"cls-root", "reversed-relations"})).eval()
    for parameter in found.parameters():
        parameter.data = torch.from_numpy(chance.normal(scale=0.2, size=tuple(parameter.shape))).float()
    lengths = [1, *chance.integers(2, 8, 5).tolist()]
    states = torch.from_numpy(chance.normal(size=(len(lengths), max(lengths), 12))).float()
    assert lengths == case["words"]
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    gold = (
        torch.tensor([[*row, *[NONE] * (max(lengths) - len(row))] for row in case[name]])
        for name in ("gold heads", "gold relations")
    )
    trees, loss = found.trees_and_loss(states, real, *gold)
    assert float(loss) == pytest.approx(case["loss"], rel=1e-5)
    for tree, theirs in zip(trees, case["trees"], strict=True):
        assert list(tree.heads) == theirs["heads"]
        below = [(ours, name) for ours, name in zip(tree.deprels, theirs["relations"], strict=True) if name]
        assert all(ours == name for ours, name in below) and tree.deprels[tree.heads.index(0)] == "dep"


@pytest.mark.parametrize("case", DECODED, ids=lambda case: str(case["seed"]))
def test_trees_are_those_of_the_other_published_code(case):
    """Relations with which arcs are weighed are of the arcs the other way round there."""
    chance = np.random.default_rng(case["seed"])
    found = PublishedBiaffine(12, "small", ("self-arcs", "summed-probabilities", "reversed-relations")).eval()
    for parameter in found.parameters():
        parameter.data = torch.from_numpy(chance.normal(scale=0.2, size=tuple(parameter.shape))).float()
    lengths = chance.integers(2, 9, 6).tolist()
    states = torch.from_numpy(chance.normal(size=(len(lengths), max(lengths), 12))).float()
    trees = found.trees(states, torch.arange(max(lengths)) < torch.tensor(lengths)[:, None])
    assert lengths == case["words"]
    assert [{"heads": list(tree.heads), "relations": list(tree.deprels)} for tree in trees] == case["trees"]


def test_the_other_scorer_starts_orthogonal_and_drops_units_after_its_layers_alone(encoder):
    torch.manual_seed(0)
    quirks = ("published-scorer",)
    parser = Parser(copy.deepcopy(encoder), "align-then-predict", 0.2, quirks=quirks)
    assert (parser.dropout.p, parser.biaffine.dropout.p) == (0, 0.2)
    for rows in parser.biaffine.layer.weight.split([500, 500, 200, 200]):
        inner = rows.T @ rows if len(rows) > rows.shape[1] else rows @ rows.T
        torch.testing.assert_close(inner, torch.eye(len(inner)), atol=1e-5, rtol=1e-5)
    for parameter in (*parser.biaffine.arc.parameters(), *parser.biaffine.label.parameters()):
        assert not parameter.any()
    plain = Parser(copy.deepcopy(encoder), "align-then-predict", 0.2)
    assert (plain.dropout.p, plain.biaffine.dropout.p) == (0.2, 0.33)


@torch.no_grad()
def test_the_root_is_the_first_token_of_each_sentence(tiny):
    """Of the first window, where a sentence has several; as a scorer has it whose own root is that state."""
    parser = Parser(tiny, "small", quirks=("cls-root",)).eval()
    sentences = [chain(words).forms for words in (4, 1, 30, 7)]
    encoded, order = EncodedSentences.of(parser, sentences), [3, 2, 0, 1]
    assert np.diff(encoded.window_starts).max() > 1
    batch = encoded.batch(np.array(order))
    states = parser(batch)
    own = Biaffine(32, "small").eval()
    for row, index in enumerate(order):
        window, n = int(encoded.window_starts[index]), len(sentences[index])
        first = tiny.backbone(input_ids=encoded.windows.pieces.batch(np.array([window])).ids).last_hidden_state[0, 0]
        torch.testing.assert_close(states[row, 0], first, atol=1e-5, rtol=0)
        own.load_state_dict(parser.biaffine.state_dict() | {"root": first})
        alone, read = batch.real[row : row + 1, :n], states[row : row + 1, : n + 1]
        theirs, ours = own(read[:, 1:], alone), parser.biaffine(read, alone)
        torch.testing.assert_close(ours.scores, theirs.scores, atol=1e-4, rtol=1e-4)


def test_a_root_that_no_sentence_begins_with_is_refused(encoder):
    bare = copy.deepcopy(encoder.tokenizer)
    bare._tokenizer.post_processor = None
    with pytest.raises(InputError, match=r"quirk cls-root: .* begins no sentence with a token such as"):
        Parser(replace(encoder, tokenizer=bare), "small", quirks=("cls-root",))


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
    [
        ("unscored-root",),
        ("summed-probabilities",),
        ("unscored-root", "summed-probabilities"),
        ("self-arcs",),
        ("self-arcs", "unscored-root"),
    ],
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
            if unscored:  # theirs has the first of equal zeros there, which is no relation
                likeliest[best.index(0)] = "dep"
            assert trees[row].deprels == likeliest
        else:
            assert [deprel == "root" for deprel in trees[row].deprels] == [head == 0 for head in best]


def test_trees_and_loss_together_are_those_apart():
    found = scorer(("unscored-root", "short-mean", "summed-probabilities"))
    states, real, heads, relations, _ = a_batch(1)
    trees, loss = found.trees_and_loss(states, real, heads, relations)
    assert trees == found.trees(states, real)
    assert torch.equal(loss, found.loss(states, real, heads, relations))


EVERY = tuple(quirk for quirk in OF_TREES if quirk != "reversed-relations")


@pytest.mark.parametrize("quirks", [(), ("short-mean",), ("unscored-root",), EVERY])
@torch.no_grad()
def test_a_loss_is_put_together_from_those_of_portions(tiny, quirks):
    model = task_model(tiny, Design("parsing", quirks=quirks))
    task = model.training([chain(words) for words in (4, 1, 7, 2, 9, 3)], {})
    whole = task.loss(model.module.eval(), task.batch(np.arange(6), torch.Generator()))
    parts = portions(task, np.arange(6), 0, 20)
    assert len(parts) > 2
    together = sum(part.share * task.loss(model.module, part.batch) for part in parts)
    torch.testing.assert_close(whole, together, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("quirks", [(), ("short-mean",), ("unscored-root",), EVERY])
def test_a_loss_that_is_measured_does_not_depend_on_the_batches(tiny, monkeypatch, quirks):
    """Of which one has sentences of one word alone."""
    model, found = task_model(tiny, Design("parsing", quirks=quirks)), []
    sentences = [chain(words) for words in (4, 1, 7, 1, 1, 1, 9, 3)]
    for tokens in (4096, 12):
        monkeypatch.setattr("babelscope.tasks.parse.evaluation_tokens", lambda device, tokens=tokens: tokens)
        found.append(model.measured(sentences)()["loss"])
    assert found[0] == pytest.approx(found[1], rel=1e-5)
