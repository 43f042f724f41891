"""How much is computed, counted and not timed: forward passes, tokens, rows of the head, encodings, bytes written.

A change that computes twice what once would do fails here, on any machine.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from torch import nn

from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import by_length
from babelscope.encoders.windows import encode_words
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tasks.tag import Tagging, evaluate_tagger
from babelscope.tuning import loop
from babelscope.tuning.batches import Order
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from taggers import a_tagger

EPOCHS = 3
TUNING = Tuning(learning_rate=3e-3, epochs=EPOCHS, tokens_per_batch=128)


@dataclass
class Work:
    """What an encoder has read."""

    training: list[tuple[int, int]] = field(default_factory=list)
    """The shape of each batch, [sequences, pieces], that it learned from."""
    evaluating: list[tuple[int, int]] = field(default_factory=list)
    """Likewise of those that it was only looked at with."""


@contextmanager
def counted(backbone: nn.Module) -> Iterator[Work]:
    work = Work()

    def note(module, _, given):
        (work.training if module.training else work.evaluating).append(tuple(given["input_ids"].shape))

    hook = backbone.register_forward_pre_hook(note, with_kwargs=True)
    yield work
    hook.remove()


@pytest.fixture
def encodings(monkeypatch):
    """How many sentences the tokenizer was given, call by call."""
    calls = []

    def encode(tokenizer, words, *given):
        calls.append(len(words))
        return encode_words(tokenizer, words, *given)

    monkeypatch.setattr("babelscope.tasks.tag.encoded_words", encode)
    return calls


def shapes(lengths, batches):
    return [(len(batch), int(lengths[batch].max())) for batch in batches]


def test_a_training_reads_each_batch_once_and_the_dev_set_once_an_epoch(encoder, tagged, tmp_path, encodings):
    tagger = a_tagger(encoder)
    train, dev = tagged[:30], tagged[30:]
    task = Tagging(tagger, train, {"dev": dev})
    with counted(tagger.backbone) as work:
        history = tune(tagger, task, TUNING, 1, tmp_path)
    turns = list(Order(task.lengths, TUNING, 1, owners=task.owners).turns())
    assert work.training == shapes(task.lengths, [turn.batch for turn in turns])
    held_out = task.held_out["dev"].windows.pieces.lengths
    assert work.evaluating == EPOCHS * shapes(held_out, by_length(held_out, 1024))
    assert len(work.training) == history.last_step
    assert sorted(encodings) == sorted([len(train), len(dev)]), "each set is encoded once"


def test_padding_of_a_training_stays_low(encoder, tagged):
    """Batches are of sentences of like lengths."""
    task = Tagging(a_tagger(encoder), tagged * 5)
    batches = [turn.batch for turn in Order(task.lengths, TUNING, 1, owners=task.owners).turns()]
    padded = sum(rows * width for rows, width in shapes(task.lengths, batches))
    assert padded < 1.1 * EPOCHS * int(task.lengths.sum())


def test_weights_are_written_when_they_are_the_best_so_far(encoder, tagged, tmp_path, monkeypatch):
    written = []

    def write(path, weights, run):
        written.append((path.name, sum(weight.nbytes for weight in weights.values())))
        plain(path, weights, run)

    plain = loop.write_weights
    monkeypatch.setattr(loop, "write_weights", write)
    tagger = a_tagger(encoder)
    history = tune(tagger, Tagging(tagger, tagged[:30], {"dev": tagged[30:]}), TUNING, 1, tmp_path)
    scores = [point.value for point in history.points if point.measure == "accuracy"]
    bests = sum(score > max(scores[:place], default=-1) for place, score in enumerate(scores))
    whole = sum(weight.nbytes for weight in module_weights(tagger).values())
    assert written == bests * [("best.safetensors", whole)]
    assert not list(tmp_path.glob("checkpoint*")), "none so soon"


def test_a_scoring_reads_every_sentence_once(encoder, tagged, encodings):
    tagger = a_tagger(encoder)
    with counted(tagger.backbone) as work:
        evaluate_tagger(tagger, tagged)
    lengths = encode_words(tagger.tokenizer, [sentence.words for sentence in tagged], tagger.max_length).pieces.lengths
    assert not work.training and work.evaluating == shapes(lengths, by_length(lengths, 1024))
    assert encodings == [len(tagged)]


def test_the_head_of_language_modelling_is_computed_at_hidden_pieces_alone(encoder: Encoder, sentences, tmp_path):
    encoder, rows = copy.deepcopy(encoder), []
    decoder = encoder.model.get_output_embeddings()
    hook = decoder.register_forward_pre_hook(lambda _, given: rows.append(len(given[0])))
    held_out = HeldOut.of(encoder.tokenizer, sentences[:10], 32)
    held_out.losses(encoder.model)
    task = MaskedLanguageModelling(encoder.tokenizer, sentences[:10], 32, 0.15)
    tune(encoder.model, task, Tuning(steps=2, tokens_per_batch=10**6, learning_rate=1e-9), 1, tmp_path)
    hook.remove()
    evaluated, *trained = rows
    assert evaluated == sum(map(len, held_out.places)) < 0.25 * len(held_out.pieces.ids)
    assert len(trained) == 2 and all(0 < hidden < 0.35 * len(task.pieces.ids) for hidden in trained)
