"""Batches in portions, dropout of each example by itself, states that are computed twice."""

from copy import deepcopy
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babelscope.core.errors import InputError, NoMemoryError
from babelscope.core.examples import Sentence, SentencePair, Word
from babelscope.core.tasks import TASKS
from babelscope.corpora import datasets
from babelscope.encoders.load import Encoder
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.study.transfer import Transfer
from babelscope.tasks.apart import Apart
from babelscope.tasks.classify import Classification, Classifier
from babelscope.tasks.design import Design
from babelscope.tasks.mlm import MaskedLanguageModelling
from babelscope.tasks.models import InLanguage, known_words, recurrent_model, training_task
from babelscope.tasks.parse import Parser, Parsing
from babelscope.tasks.tag import Tagging
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.dropout import kept, own_dropout
from babelscope.tuning.loop import tune
from babelscope.tuning.memo import StateMemo
from babelscope.tuning.memory import portions
from babelscope.tuning.schedule import parse_schedule
from babelscope.tuning.settings import Tuning
from families import FAMILIES
from taggers import a_tagger, family_encoder, same_weights

CPU = torch.device("cpu")
LABELS = ("yes", "no")
SMOOTH = Tuning(steps=4, tokens_per_batch=256, learning_rate=0.1, epsilon=0.1)
"""With so large an epsilon a step is about in proportion to the gradient, whose last digits Adam would make large."""


# --- which units are dropped


@given(st.integers(1, 6), st.integers(0, 5), st.integers(1, 7), st.integers(1, 9), st.integers(0, 2**62))
def test_what_is_dropped_of_an_example_does_not_depend_on_what_is_beside_it(rows, start, width, deep, key):
    """A part of the rows, and a part of their width, are dropped as in the whole."""
    whole = kept((start + rows, width + 3, deep), 0, key, 0.3, CPU)
    assert torch.equal(kept((rows, width, deep), start, key, 0.3, CPU), whole[start:, :width])


def test_about_the_share_is_dropped_everywhere_and_nothing_follows_from_anything_else():
    share, shape = 0.1, (60, 40, 50)
    dropped = ~kept(shape, 0, 12345, share, CPU)
    other = ~kept(shape, 0, 12346, share, CPU)
    error = (share * (1 - share)) ** 0.5
    for dims in ((1, 2), (0, 2), (0, 1), (0, 1, 2)):
        rates = dropped.float().mean(dims)
        each = error / (dropped.numel() / rates.numel()) ** 0.5
        assert ((rates - share).abs() < 5 * each).all()
    pairs = [(dropped[1:], dropped[:-1]), (dropped[:, 1:], dropped[:, :-1]), (dropped[..., 1:], dropped[..., :-1])]
    for first, second in [*pairs, (dropped, other)]:
        both = (first & second).float().mean()
        assert abs(both - share**2) < 5 * share / first.numel() ** 0.5


def test_dropout_keeps_the_mean_and_leaves_evaluation_alone(encoder):
    tagger, states = a_tagger(encoder, dropout=0.25), torch.ones(400, 300)
    module = tagger.dropout
    with own_dropout(tagger, seed=3) as drop:
        drop.begin(1, 0)
        dropped = module.train()(states)
        drop.begin(2, 0)
        other_step = module(states)
        assert torch.equal(module.eval()(states), states)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert dropped.mean() == pytest.approx(1, abs=0.01)
    assert not torch.equal(dropped, other_step)
    assert not torch.equal(module.train()(states), dropped)  # torch's own again


# --- portions


def a_sentence(number, tagged):
    words = zip(tagged.words, tagged.labels, strict=True)
    return Sentence(str(number), tuple(Word(*word, place, "dep") for place, word in enumerate(words)))


def a_task(kind, encoder, tagged, sentences):
    """A model and its task; what is drawn for the head is always the same."""
    torch.manual_seed(0)
    encoder = deepcopy(encoder)
    if kind == "tagging":
        tagger = a_tagger(encoder, encoder_dropout=0.1)
        return tagger, Tagging(tagger, tagged)
    if kind == "parsing":
        parser = Parser(encoder)
        return parser, Parsing(parser, [a_sentence(*numbered) for numbered in enumerate(tagged)])
    if kind == "classification":
        classifier = Classifier(encoder, LABELS, dropout=0.1)
        pairs = [SentencePair(text, text, LABELS[place % 2]) for place, text in enumerate(sentences)]
        return classifier, Classification(classifier, pairs)
    if kind == "two languages":
        tagger = a_tagger(encoder, encoder_dropout=0.1)
        return tagger, Apart([Tagging(tagger, tagged[:30]), Tagging(tagger, tagged[30:])])
    return encoder.model, MaskedLanguageModelling(encoder.tokenizer, sentences, 24)


KINDS = ("tagging", "parsing", "classification", "two languages", "masked language modelling")


def trained(kind, given, folder, **settings):
    model, task = a_task(kind, *given)
    tuning = SMOOTH.model_copy(update=settings)
    tune(model, task, tuning, 1, folder)
    return module_weights(model)


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_portions_changes_last_digits_alone(encoder, tagged, sentences, tmp_path, kind):
    """Dropout and masks included: whole batches, portions of several examples, one example at a time."""
    given = (encoder, tagged, sentences)
    whole, some, alone = (trained(kind, given, tmp_path / str(n), micro_tokens=n) for n in (10**6, 100, 1))
    for name, weights in whole.items():
        torch.testing.assert_close(some[name], weights, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(alone[name], weights, rtol=1e-5, atol=1e-5)
    assert not same_weights(whole, trained(kind, given, tmp_path / "none"))  # other units are dropped


@pytest.mark.parametrize("schedule", ["freeze:1", "upper:last"])
def test_portions_go_with_layers_that_are_frozen(encoder, tagged, tmp_path, schedule):
    """Their states are kept before the first step, in which nothing is dropped yet; it was an error."""

    def frozen(count):
        model, task = a_task("tagging", encoder, tagged, [])
        tune(model, task, SMOOTH.model_copy(update={"micro_tokens": count}), 1, tmp_path / str(count),
             schedule=parse_schedule(schedule), memo=StateMemo())  # fmt: skip
        return module_weights(model)

    whole, some = frozen(10**6), frozen(60)
    for name, weights in whole.items():
        torch.testing.assert_close(some[name], weights, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_portions_are_the_batch(encoder, tagged, sentences, kind):
    """Gradients of portions add up to the mean of single examples' gradients, weighed by hand."""
    model, task = a_task(kind, encoder, tagged, sentences)
    model.eval()
    indices = np.array([7, 3, 9, 12])

    def gradient(parts):
        model.zero_grad()
        sum(part.share * task.loss(model, part.batch) for part in parts).backward()
        return torch.cat([weights.grad.flatten() for weights in model.parameters() if weights.grad is not None])

    parts = portions(task, indices, 5, micro_tokens=30)
    assert len(parts) > 1 and sum(part.share for part in parts) == pytest.approx(1)
    torch.testing.assert_close(gradient(parts), gradient(portions(task, indices, 5, micro_tokens=10**6)))
    counts = [task.portion(np.array([index]), 5) for index in indices]
    total = sum(count for _, count in counts)
    model.zero_grad()
    (sum(count * task.loss(model, batch) for batch, count in counts) / total).backward()
    by_hand = torch.cat([weights.grad.flatten() for weights in model.parameters() if weights.grad is not None])
    torch.testing.assert_close(gradient(parts), by_hand)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_drops_by_example(tokenizer, tagged, tmp_path, family):
    """In its attention too: with dropout there alone, portions agree, and differ from no dropout."""

    def run(dropout, micro_tokens):
        torch.manual_seed(0)
        encoder = family_encoder(family, tokenizer)
        for name in ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop"):
            if hasattr(encoder.backbone.config, name):
                setattr(encoder.backbone.config, name, dropout)
        remade = Encoder(type(encoder.model)(encoder.model.config), encoder.tokenizer, encoder.name)
        remade.model.load_state_dict(encoder.model.state_dict())
        tagger = a_tagger(remade, dropout=0.0)
        tuning = SMOOTH.model_copy(update={"micro_tokens": micro_tokens})
        tune(tagger, Tagging(tagger, tagged), tuning, 1, tmp_path / f"{dropout}-{micro_tokens}")
        return module_weights(tagger)

    whole, parts, none = run(0.5, 10**6), run(0.5, 60), run(0.0, 10**6)
    for name, weights in whole.items():
        torch.testing.assert_close(parts[name], weights, rtol=1e-5, atol=1e-5)
    assert not same_weights(whole, none)


def test_what_cannot_be_put_together_is_refused(encoder, tagged):
    tagger = a_tagger(encoder)

    class Whole:
        lengths = np.ones(3, dtype=np.int64)

    with pytest.raises(InputError, match="micro_tokens=8: Whole is trained on whole batches; leave it out"):
        portions(Whole(), np.arange(3), 0, 8)
    assert len(portions(Tagging(tagger, tagged), np.arange(3), 0, None)) == 1


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        (
            {"tokens_per_batch": 4096},
            "declare micro_tokens: 2048 to compute it in portions, or recompute: true",
        ),
        ({"tokens_per_batch": None, "examples_per_batch": 32, "recompute": True}, "declare micro_tokens, such as 2048"),
        ({"micro_tokens": 700, "precision": "bfloat16"}, "declare micro_tokens: 350 .*, or recompute: true$"),
        (
            {"tokens_per_batch": 4096, "precision": "bfloat16", "compile": True},
            "declare tokens_per_batch: 2048, or micro_tokens: auto without `compile`$",
        ),
    ],
)
def test_a_batch_that_does_not_fit_says_what_to_set(encoder, tagged, tmp_path, settings, advice):
    class Large(Tagging):
        def loss(self, model, batch):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")

    tagger = a_tagger(encoder)
    with pytest.raises(NoMemoryError, match=advice):
        tune(tagger, Large(tagger, tagged), Tuning(steps=1).model_copy(update=settings), 0, tmp_path)


@pytest.mark.parametrize("kind", ["tagger", "parser"])
@pytest.mark.parametrize(
    ("settings", "advice"),
    [({"tokens_per_batch": 512}, {"tokens_per_batch": 256}), ({"examples_per_batch": 32}, {"examples_per_batch": 16})],
)
def test_a_bilstm_whose_batch_does_not_fit_is_told_what_it_can_have(tmp_path, monkeypatch, kind, settings, advice):
    """It was told to compute in portions, and layers twice, which it cannot."""
    task = {"tagger": "pos", "parser": "parsing"}[kind]
    train = datasets.find(TASKS[task], "world:qaa", "train", 20, 0).read()
    model = recurrent_model(Design(task), known_words(train))
    objective = training_task(model, [InLanguage("qaa", train)], {})
    monkeypatch.setattr(type(objective), "loss", Mock(side_effect=torch.OutOfMemoryError("CUDA out of memory")))
    ((name, value),) = advice.items()
    with pytest.raises(NoMemoryError, match=rf"declare {name}: {value}, or precision: bfloat16$"):
        tune(model.module, objective, Tuning(steps=1, **settings), 0, tmp_path)
    Transfer(train=("world:qaa",), evaluate=("world:qab",), recurrent={"steps": 1, "precision": "bfloat16", **advice})


# --- states that are computed twice


@pytest.mark.parametrize("micro_tokens", [None, 100])
@pytest.mark.parametrize("kind", ["tagging", "masked language modelling"])
def test_states_that_are_computed_twice_give_the_same_weights(encoder, tagged, sentences, tmp_path, kind, micro_tokens):
    given = (encoder, tagged, sentences)
    once = trained(kind, given, tmp_path / "once", micro_tokens=micro_tokens)
    assert same_weights(once, trained(kind, given, tmp_path / "twice", micro_tokens=micro_tokens, recompute=True))


def test_computing_twice_keeps_less(tokenizer, sentences):
    """Bytes of what the graph of a loss holds."""
    encoder = new_encoder(Shape(hidden=32, layers=4, heads=2, feed_forward=64, positions=24), tokenizer, 0, "tiny")
    task = MaskedLanguageModelling(tokenizer, sentences, 24)
    model = encoder.model.train()

    def held():
        sizes = {}
        with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.setdefault(t.data_ptr(), t.nbytes), lambda t: t):
            task.loss(model, task.batch(np.arange(30), torch.Generator().manual_seed(0)))
        return sum(sizes.values())

    before = held()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    assert held() < before / 2
