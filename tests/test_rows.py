"""Embeddings that are trained by the rows that are read end with the bits of those that are trained whole."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from babelscope.core.examples import Tagged
from babelscope.tasks.mlm import MaskedLanguageModelling
from babelscope.tasks.tag import Tagging
from babelscope.tuning import rows
from babelscope.tuning.freezing import trained_part
from babelscope.tuning.loop import tune
from babelscope.tuning.schedule import parse_schedule
from babelscope.tuning.settings import Tuning
from families import DECODERS, family_model
from taggers import (
    DROPOUT,
    FAMILIES,
    LAYERS,
    Notes,
    StoppedError,
    a_tagger,
    copied,
    family_encoder,
    same_weights,
    stop_at,
)

QUICK = Tuning(learning_rate=3e-3, steps=6, tokens_per_batch=64, validate_every=2)
VOCABULARY = 600
"""Of which the sentences have less than a sixth."""


@pytest.fixture
def by_rows(monkeypatch):
    """Switches training by rows on and off; gives what was trained so."""
    taken = []
    descend = rows.descend

    def watched(optimizer, embeddings, clip):
        descend(optimizer, embeddings, clip)
        taken.append(embeddings)

    monkeypatch.setattr("babelscope.tuning.descent.descend", watched)

    def switch(on):
        monkeypatch.setattr(rows, "LEAST", 1 if on else 1 << 40)
        return taken

    return switch


def large_tagger(family, tokenizer, **given):
    torch.manual_seed(0)
    model = family_model(family, layers=LAYERS, vocabulary=VOCABULARY, **DROPOUT.get(family, {}))
    model = model.base_model if family in DECODERS else model
    model.config.use_cache = False
    return a_tagger(replace(family_encoder(family, tokenizer), model=model), **given)


def trained(tagger, tagged, folder, tuning=QUICK, schedule=None, dev=True, **given):
    """Weights, and the curves with the best step; a dev set reads what training does not."""
    task = Tagging(tagger, tagged[:40], {"dev": tagged[40:]} if dev else {})
    history = tune(tagger, task, tuning, 0, folder, schedule=parse_schedule(schedule) if schedule else None, **given)
    return copied(tagger), history


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("changes", "schedule"),
    [
        ({}, None),
        ({"clip": None, "bias_correction": False}, None),
        ({"clip": 1e-3, "weight_decay": 0.0}, None),
        ({"micro_tokens": 40}, None),
        ({"threads": 2}, None),
        ({"recompute": True, "micro_tokens": 40}, None),
        ({"precision": "bfloat16", "patience": 1}, None),
        ({}, "freeze:-1,decay=0.5"),
    ],
)
def test_rows_that_are_read_train_as_all_do(family, changes, schedule, by_rows, tokenizer, tagged, tmp_path):
    tuning, ends = Tuning(**QUICK.model_dump(exclude={"epochs"}) | changes), []
    for on in (True, False):
        taken = by_rows(on)
        before = len(taken)
        ends.append(trained(large_tagger(family, tokenizer), tagged, tmp_path / str(on), tuning, schedule))
        assert (len(taken) > before) is on
    assert same_weights(ends[0][0], ends[1][0])
    assert ends[0][1] == ends[1][1]


def test_a_run_by_rows_resumes_with_the_same_bits(by_rows, tokenizer, tagged, tmp_path):
    by_rows(True)
    for stop in (1, 3, 4):
        with pytest.raises(StoppedError):
            trained(
                large_tagger("bert", tokenizer), tagged, tmp_path / "run", progress=stop_at(stop), checkpoint_seconds=0
            )
    resumed = trained(large_tagger("bert", tokenizer), tagged, tmp_path / "run")
    by_rows(False)
    (tmp_path / "again").mkdir()
    whole = trained(large_tagger("bert", tokenizer), tagged, tmp_path / "again" / "run")
    assert same_weights(resumed[0], whole[0]) and resumed[1] == whole[1]


def test_without_a_dev_set_the_last_weights_are_whole(by_rows, tokenizer, tagged, tmp_path):
    ends = []
    for on in (True, False):
        by_rows(on)
        ends.append(trained(large_tagger("bert", tokenizer), tagged, tmp_path / str(on), dev=False))
    assert same_weights(ends[0][0], ends[1][0])


def test_a_watch_sees_all_weights_of_the_step(by_rows, tokenizer, tagged, tmp_path):
    seen = []
    for on in (True, False):
        by_rows(on)
        notes = Notes(every=1)
        trained(large_tagger("bert", tokenizer), tagged, tmp_path / str(on), watch=notes)
        seen.append(notes.seen)
    assert len(seen[0]) == 7
    assert all(same_weights(first, second) for (_, first), (_, second) in zip(*seen, strict=True))


def test_an_embedding_that_is_mostly_read_is_trained_whole(by_rows, tokenizer, tagged, tmp_path):
    pieces = [piece.removeprefix("##") for piece in tokenizer.get_vocab() if not piece.startswith("[")]
    every_piece = [Tagged(pieces[start : start + 6], ["NOUN"] * 6) for start in range(0, len(pieces) - 6, 6)]
    encoder, ends = family_encoder("bert", tokenizer), []
    for on in (True, False):
        taken = by_rows(on)
        ends.append(trained(a_tagger(encoder), every_piece * 4, tmp_path / str(on)))
    assert 0 < len(taken) < QUICK.steps
    assert same_weights(ends[0][0], ends[1][0])


def test_weights_that_are_also_read_otherwise_are_trained_whole(by_rows, tokenizer, sentences, tmp_path):
    """Masked language modelling predicts by the word embeddings, all of them."""
    taken = by_rows(True)
    model = family_model("bert", layers=LAYERS, vocabulary=VOCABULARY)
    before = copied(model)
    tune(model, MaskedLanguageModelling(tokenizer, sentences, 32), QUICK, 0, tmp_path)
    assert not taken and not same_weights(before, copied(model))


def test_rows_that_nothing_reads_take_no_step_and_owe_their_decay(by_rows, tokenizer, tagged):
    """As AdamW has it: w (1 - rate x decay) at each step."""
    by_rows(True)
    tagger = large_tagger("bert", tokenizer)
    weight = tagger.backbone.get_input_embeddings().weight
    before = weight.detach().clone()
    with trained_part(tagger, None, [1], 0, by_rows=True) as part:
        embedding = part.rows
        for factor in (0.9, 0.5):
            embedding.owe(factor)
        tagger.backbone.get_input_embeddings()(torch.tensor([[7, 7]]))
        assert embedding.read.nonzero().flatten().tolist() == [7]
        assert torch.equal(weight[7], before[7] * 0.9 * 0.5) and torch.equal(weight[8], before[8])
        part.settle()
        part.settle()
        assert torch.equal(weight, before * 0.9 * 0.5)


@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_the_gradient_is_that_of_torch(family, by_rows, tokenizer):
    """Also of padding, which has none, and of ids that come again."""
    by_rows(True)
    tagger = large_tagger(family, tokenizer)
    embedding = tagger.backbone.get_input_embeddings()
    ids = torch.tensor([[3, 7, 3, 500], [embedding.padding_idx, 3, 9, embedding.padding_idx]])
    noise = torch.randn(*ids.shape, embedding.embedding_dim)
    whole = embedding.weight.detach().clone().requires_grad_()
    (nn.functional.embedding(ids, whole, embedding.padding_idx) * noise).sum().backward()
    with trained_part(tagger, None, [1], 0, by_rows=True):
        (embedding(ids) * noise).sum().backward()
        assert torch.equal(embedding.weight.grad, whole.grad)
    assert "forward" not in vars(embedding)
