"""The quirks of a published protocol: each gives the number that a slow computation of it gives."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from babelscope.core.row import Row
from babelscope.core.seeds import derive_seed
from babelscope.corpora.datasets import Dataset
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Frame
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.tasks.design import Design
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling, Masking
from babelscope.tasks.models import task_model
from babelscope.tasks.quirky import QuirkyHeldOut, with_quirks
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from probed import dropping, eighteen, measured


@pytest.fixture
def own(encoder) -> Encoder:
    return dropping(encoder, 0.1)


@pytest.fixture
def native(other_tokenizer) -> Encoder:
    """Of the same size as the other, but with a tokenizer and weights of its own."""
    shape = Shape(hidden=32, layers=2, heads=2, feed_forward=64, positions=24)
    return new_encoder(shape, other_tokenizer, seed=1, name="native")


@pytest.fixture
def data(tmp_path, sentences) -> Dataset:
    return eighteen(tmp_path, sentences)


def padded(sequences: list[list[int]], padding: int) -> torch.Tensor:
    width = max(map(len, sequences))
    return torch.tensor([[*sequence, *[padding] * (width - len(sequence))] for sequence in sequences])


def encoded(encoder: Encoder, sentences: Iterable[str]) -> list[list[int]]:
    frame = Frame.of(encoder.tokenizer)
    pieces = [encoder.tokenizer(sentence, add_special_tokens=False)["input_ids"] for sentence in sentences]
    return [frame.around(ids[start : start + 22]) for ids in pieces for start in range(0, len(ids), 22)]


# Perplexity.


def test_two_batches_are_32_sentences_drawn_once(own, sentences):
    held_out = HeldOut.of(own.tokenizer, sentences, own.max_length)
    drawn = np.random.default_rng(derive_seed(0, "two batches")).permutation(len(sentences))[:32]
    losses = held_out.losses(own.model)
    total, count = sum(losses[k][0] for k in drawn), sum(losses[k][1] for k in drawn)
    found = QuirkyHeldOut(held_out, ["two-batches"]).perplexity(own.model)
    assert math.isclose(found, math.exp(total / count), rel_tol=1e-5)
    assert not math.isclose(found, held_out.perplexity(own.model), rel_tol=1e-5)
    assert len(set(drawn)) == 32 < len(sentences) and (drawn >= 32).any()


def test_fresh_masks_are_drawn_anew_by_torchs_seed(own, sentences):
    some = sentences[:5]
    held_out = HeldOut.of(own.tokenizer, some, own.max_length)
    quirky, found = QuirkyHeldOut(held_out, ["fresh-masks"]), []
    with torch.random.fork_rng():
        for seed in (7, 7, 8):
            torch.manual_seed(seed)
            found.append(quirky.perplexity(own.model))
    assert found[0] == found[1] != found[2] != held_out.perplexity(own.model)
    masked = Masking(own.tokenizer, 0.15).draw(held_out.pieces.batch(np.arange(5)), torch.Generator().manual_seed(7))
    losses = []
    for place, answer in zip(masked.hidden.tolist(), masked.answers.tolist(), strict=True):
        row, column = divmod(place, masked.batch.ids.shape[1])
        ids = masked.batch.ids[row][masked.batch.real[row]]
        losses.append(-own.model(input_ids=ids[None]).logits[0, column].log_softmax(-1)[answer].item())
    assert math.isclose(found[0], math.exp(sum(losses) / len(losses)), rel_tol=1e-4)


def test_without_attention_mask_padding_is_attended_to(own, sentences):
    held_out = HeldOut.of(own.tokenizer, sentences[:18], own.max_length)
    sequences, losses = [list(ids) for ids in held_out.pieces], []
    for start in range(0, len(sequences), 16):
        part = [list(map(int, sequence)) for sequence in sequences[start : start + 16]]
        answers = []
        for row, places in enumerate(held_out.places[start : start + 16]):
            for place in places:
                answers.append((row, int(place), part[row][place]))
                part[row][place] = own.tokenizer.mask_token_id
        logits = own.model(input_ids=padded(part, own.tokenizer.pad_token_id)).logits
        losses += [cross_entropy(logits[row, place], torch.tensor(answer)).item() for row, place, answer in answers]
    found = QuirkyHeldOut(held_out, ["no-attention-mask"]).perplexity(own.model)
    assert math.isclose(found, math.exp(sum(losses) / len(losses)), rel_tol=1e-5)
    assert not math.isclose(found, held_out.perplexity(own.model), rel_tol=1e-5)


def test_other_quirks_leave_perplexity_alone(own, sentences):
    held_out = HeldOut.of(own.tokenizer, sentences[:18], own.max_length)
    found = QuirkyHeldOut(held_out, ["own-tokenizer", "dropout-on", "higher-is-best"]).perplexity(own.model)
    assert math.isclose(found, held_out.perplexity(own.model), rel_tol=1e-6)


# Selection.


def trained(encoder: Encoder, sentences: list[str], folder: Any, quirks: Iterable[str]) -> tuple[dict[int, float], int]:
    """The perplexities of the dev set by step, and the step that was kept."""
    model = copy.deepcopy(encoder)
    held_out = HeldOut.of(model.tokenizer, sentences[:40], model.max_length)
    task = MaskedLanguageModelling(model.tokenizer, sentences[40:], model.max_length, dev={"dev": held_out})
    tuning = Tuning(epochs=3, learning_rate=3e-3, validate_every=1, tokens_per_batch=128)
    history = tune(model.model, with_quirks(task, tuple(quirks)), tuning, 0, folder)
    return {point.step: point.value for point in history.points if point.split == "dev dev"}, history.best_step


def test_the_higher_perplexity_is_kept_as_the_better_one(encoder, sentences, tmp_path):
    usual, best = trained(encoder, sentences, tmp_path / "usual", ())
    curious, worst = trained(encoder, sentences, tmp_path / "curious", ["higher-is-best"])
    assert usual[best] == min(usual.values()) and curious[worst] == max(curious.values())
    assert curious == pytest.approx(usual) and best != worst


def test_selection_reads_what_the_quirks_say_and_goes_on_with_the_same_bits(encoder, sentences, tmp_path):
    both = ["two-batches", "fresh-masks"]
    first, again, usual = (
        trained(encoder, sentences, tmp_path / name, quirks)[0]
        for name, quirks in (("first", both), ("again", both), ("usual", ()))
    )
    assert first == again and all(first[step] != usual[step] for step in usual)


def test_other_tasks_are_selected_as_ever(encoder, tagged):
    model = task_model(copy.deepcopy(encoder), Design("pos"))
    task = model.training(tagged[:8], {"dev": tagged[8:10]})
    assert with_quirks(task, ("higher-is-best",)) is task


# Distances.


def by_layer(rows: Iterable[Row], measure: str) -> list[float]:
    return [row.value for row in rows if row.measure == measure]


def states(encoder: Encoder, sequences: list[list[int]], attends_padding: bool) -> torch.Tensor:
    """[layers + 1, sequences, positions, hidden] of one batch."""
    ids = padded(sequences, encoder.tokenizer.pad_token_id)
    mask = torch.tensor([[column < len(sequence) for column in range(ids.shape[1])] for sequence in sequences])
    shown = torch.ones_like(mask) if attends_padding else mask
    with torch.no_grad():
        every = encoder.backbone(input_ids=ids, attention_mask=shown.long(), output_hidden_states=True).hidden_states
    return torch.stack(every)


@pytest.mark.parametrize("attends_padding", [False, True])
def test_positions_of_own_tokens_are_compared_one_by_one(own, native, data, attends_padding):
    quirks = ["own-tokenizer", *(["no-attention-mask"] if attends_padding else [])]
    found = by_layer(measured(own, native, data, quirks), "distance to native")
    gaps: list[list[float]] = [[], [], []]
    ours, theirs = (encoded(encoder, data.read()) for encoder in (own, native))
    for start in range(0, 18, 16):
        parts = ours[start : start + 16], theirs[start : start + 16]
        first, second = (
            states(encoder, part, attends_padding) for encoder, part in zip((own, native), parts, strict=True)
        )
        for sentence in range(len(parts[0])):
            shorter = min(len(parts[0][sentence]), len(parts[1][sentence]))
            width = min(first.shape[2], second.shape[2]) if attends_padding else shorter
            for position in range(width):
                for layer in range(3):
                    gap = first[layer, sentence, position] - second[layer, sentence, position]
                    gaps[layer].append(gap.norm().item())
    assert found == pytest.approx([sum(each) / len(each) for each in gaps], rel=1e-2)  # states are kept in 16 bits
    usual = by_layer(measured(own, native, data, []), "distance to native")
    assert all(math.isclose(*pair, rel_tol=0.1) and pair[0] != pair[1] for pair in zip(found, usual, strict=True))


def test_a_sentence_that_one_tokenizer_splits_is_cut_to_one_sequence(own, other_tokenizer, data):
    """The other encoder has room for four pieces, so that whole sentences would be more batches of its sequences."""
    shape = Shape(hidden=32, layers=2, heads=2, feed_forward=64, positions=6)
    short = new_encoder(shape, other_tokenizer, seed=1, name="short")
    whole = [short.tokenizer(one, add_special_tokens=False)["input_ids"] for one in data.read()]
    assert sum(math.ceil(len(ids) / 4) for ids in whole) > 32
    found = by_layer(measured(own, short, data, ["own-tokenizer"]), "distance to native")
    ours = [own.tokenizer(one, add_special_tokens=False)["input_ids"][:22] for one in data.read()]
    gaps: list[list[float]] = [[], [], []]
    for one, other in zip(ours, whole, strict=True):
        first, second = (
            states(encoder, [Frame.of(encoder.tokenizer).around(ids)], attends_padding=False)[:, 0]
            for encoder, ids in ((own, one), (short, other[:4]))
        )
        width = min(first.shape[1], second.shape[1])
        for layer in range(3):
            gaps[layer] += (first[layer, :width] - second[layer, :width]).norm(dim=-1).tolist()
    assert found == pytest.approx([sum(each) / len(each) for each in gaps], rel=1e-2)


def test_words_are_compared_where_padding_is_attended_to(own, native, data):
    found = by_layer(measured(own, native, data, ["no-attention-mask"]), "distance to native")
    gaps: list[list[float]] = [[], [], []]
    sentences = list(data.read())
    for start in range(0, 18, 16):
        means = [word_means(encoder, sentences[start : start + 16]) for encoder in (own, native)]
        for first, second in zip(*means, strict=True):
            for layer in range(3):
                gaps[layer].append((first[layer] - second[layer]).norm().item())
    assert found == pytest.approx([sum(each) / len(each) for each in gaps], rel=1e-2)


def word_means(encoder: Encoder, sentences: list[str]) -> list[torch.Tensor]:
    """[layers + 1, hidden] of every word: the mean of its pieces, in a batch whose padding is attended to."""
    every, means = states(encoder, encoded(encoder, sentences), attends_padding=True), []
    for row, sentence in enumerate(sentences):
        place = len(Frame.of(encoder.tokenizer).before)
        for word in sentence.split():
            width = len(encoder.tokenizer(word, add_special_tokens=False)["input_ids"])
            means.append(every[:, row, place : place + width].mean(dim=1))
            place += width
    return means


def test_dropout_moves_what_has_not_moved(own, native, data):
    still = by_layer(measured(own, native, data, []), "distance to start")
    shaken = by_layer(measured(own, native, data, ["dropout-on"]), "distance to start")
    assert still == [0, 0, 0] and all(value > 0 for value in shaken) and not own.model.training
    assert shaken == by_layer(measured(own, native, data, ["dropout-on"]), "distance to start")
    assert shaken != by_layer(measured(own, native, data, ["dropout-on"], step=1), "distance to start")


def test_dropout_is_that_of_the_seed_and_the_step(own, native, data):
    found = by_layer(measured(own, native, data, ["dropout-on", "own-tokenizer"], step=5), "distance to native")
    ours, theirs = (encoded(encoder, data.read()) for encoder in (own, native))
    gaps: list[list[float]] = [[], [], []]
    with torch.random.fork_rng():
        torch.manual_seed(derive_seed(3, "probe", 5))
        for start in range(0, 18, 16):
            own.model.train()
            first = states(own, ours[start : start + 16], attends_padding=False)
            own.model.eval()
            second = states(native, theirs[start : start + 16], attends_padding=False)
            for row, (one, other) in enumerate(zip(ours[start:][:16], theirs[start:][:16], strict=True)):
                width = min(len(one), len(other))
                for layer in range(3):
                    gaps[layer] += (first[layer, row, :width] - second[layer, row, :width]).norm(dim=-1).tolist()
    assert found == pytest.approx([sum(each) / len(each) for each in gaps], rel=1e-2)


def test_without_quirks_nothing_is_left_to_chance(own, native, data):
    with torch.random.fork_rng():
        torch.manual_seed(1)
        before = torch.get_rng_state()
        rows = measured(own, native, data, [])
        assert torch.equal(before, torch.get_rng_state())
    assert rows == measured(own, native, data, [], step=0)
