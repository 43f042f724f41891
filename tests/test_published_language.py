"""What Hussain and Dudev trained and tested language models with, each as a slow computation has it."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from babelscope.core.errors import StudyError
from babelscope.core.seeds import derive_seed
from babelscope.corpora.datasets import Dataset
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Batch
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.tasks.as_published import OF_LANGUAGE
from babelscope.tasks.design import Design, TaskModel
from babelscope.tasks.mlm import Masking
from babelscope.tasks.models import task_model
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.freezing import trained_part
from babelscope.tuning.loop import tune
from babelscope.tuning.schedule import parse_schedule
from babelscope.tuning.settings import Tuning
from probed import dropping, eighteen, measured

BATCH = 16


@pytest.fixture
def shaky(encoder) -> Encoder:
    """With much dropout, once it is in training mode."""
    return dropping(encoder, 0.3)


@pytest.fixture
def attentive(encoder) -> Encoder:
    """With larger weights, so that what is attended to changes what is predicted."""
    copied = copy.deepcopy(encoder)
    with torch.no_grad():
        for parameter in copied.model.parameters():
            parameter.mul_(10 if parameter.ndim > 1 else 1)
    return copied


@pytest.fixture
def data(tmp_path, sentences) -> Dataset:
    return eighteen(tmp_path, sentences)


def language_model(encoder: Encoder, *quirks: str) -> TaskModel:
    return task_model(encoder, Design("mlm", quirks=quirks))


def losses(encoder: Encoder, batch: Batch, places: torch.Tensor, answers: torch.Tensor) -> list[float]:
    """Of hidden pieces, where padding is attended to."""
    logits = encoder.model(input_ids=batch.ids, attention_mask=torch.ones_like(batch.ids)).logits.flatten(0, 1)
    return [cross_entropy(logits[place], answer).item() for place, answer in zip(places, answers, strict=True)]


@torch.no_grad()
def test_padding_is_text_in_training(attentive, sentences):
    encoder = attentive
    usual, published = (
        language_model(encoder, *quirks).training(sentences[:BATCH], {}) for quirks in ((), ("padding-as-text",))
    )
    indices = np.arange(BATCH)
    masked = usual.batch(indices, torch.Generator().manual_seed(4))
    slow = losses(encoder, masked.batch, masked.hidden, masked.answers)
    found, left = (task.batch(indices, torch.Generator().manual_seed(4)) for task in (published, usual))
    assert masked.batch.padded
    assert published.loss(encoder.model, found).item() == pytest.approx(sum(slow) / len(slow), rel=1e-5)
    assert usual.loss(encoder.model, left).item() != pytest.approx(sum(slow) / len(slow), rel=1e-3)
    portion, count = published.portion(indices, 4)
    slow = losses(encoder, portion.batch, portion.hidden, portion.answers)
    assert published.loss(encoder.model, portion).item() == pytest.approx(sum(slow) / count, rel=1e-5)


@torch.no_grad()
def test_test_sets_are_masked_as_training_is(attentive, sentences):
    encoder = attentive
    held = sentences[:40]
    (found,) = language_model(encoder, *OF_LANGUAGE).scores(held)
    sequences = language_model(encoder).held_out(held).pieces
    masking, slow = Masking(encoder.tokenizer, 0.15), []
    summed, shown = np.zeros(len(held)), []
    for start in range(0, len(held), BATCH):
        batch = sequences.batch(np.arange(start, min(start + BATCH, len(held))))
        for row in range(len(batch.ids)):
            seed = torch.Generator().manual_seed(derive_seed(0, "drawn masks", start + row))
            alone = Batch(
                batch.ids[row : row + 1, : batch.real[row].sum()], batch.real[row : row + 1][:, batch.real[row]]
            )
            drawn = masking.draw(alone, seed)
            ids = batch.ids.clone()
            ids[row, : alone.ids.shape[1]] = drawn.batch.ids[0]
            own = losses(encoder, batch._replace(ids=ids), row * ids.shape[1] + drawn.hidden, drawn.answers)
            summed[start + row] = sum(own)
            slow += own
            shown += drawn.batch.ids.flatten()[drawn.hidden].tolist()
    assert found.value == pytest.approx(math.exp(sum(slow) / len(slow)), rel=1e-4)
    assert list(found.numerators) == pytest.approx(summed.tolist(), rel=1e-4)
    assert 0 < sum(piece != encoder.tokenizer.mask_token_id for piece in shown) < len(shown) / 2
    (again,) = language_model(encoder, *OF_LANGUAGE).scores(held)
    assert again.value == found.value


@torch.no_grad()
@pytest.mark.parametrize("quirk", OF_LANGUAGE)
def test_each_quirk_alone_is_another_number(encoder, sentences, quirk):
    (usual,) = language_model(encoder).scores(sentences[:BATCH])
    (found,) = language_model(encoder, quirk).scores(sentences[:BATCH])
    assert found.value != usual.value and found.value == pytest.approx(usual.value, rel=0.5)


def trained(encoder: Encoder, sentences: list[str], folder: Any, **settings: Any) -> dict[str, torch.Tensor]:
    model = copy.deepcopy(encoder)
    task = language_model(model).training(sentences[:40], {})
    tune(model.model, task, Tuning(epochs=1, learning_rate=3e-3, tokens_per_batch=128, **settings), 0, folder)
    return module_weights(model.model)


@pytest.mark.parametrize("micro_tokens", [None, 64])
def test_an_encoder_can_be_trained_without_its_dropout(encoder, shaky, sentences, tmp_path, micro_tokens):
    given = {"micro_tokens": micro_tokens}
    still = trained(shaky, sentences, tmp_path / "still", encoder_dropout=False, **given)
    none_to_drop = trained(encoder, sentences, tmp_path / "none", **given)
    dropped = trained(shaky, sentences, tmp_path / "dropped", **given)
    assert all(torch.equal(still[name], none_to_drop[name]) for name in still)
    assert any(not torch.equal(still[name], dropped[name]) for name in still)


@pytest.mark.parametrize("schedule", [None, "freeze:1", "freeze:0,lora=2", "gradual:groups=2"])
def test_no_layer_is_in_training_mode_without_the_encoders_dropout(shaky, schedule):
    model = copy.deepcopy(shaky)
    starts = [1, 3]
    read = parse_schedule(schedule) if schedule else None
    with trained_part(model.model, read, starts, seed=0, dropout=False) as part:
        for step in (1, 3):
            part.reach(step)
            assert not any(module.training for module in model.backbone.modules())
            assert model.model.training


def test_frozen_layers_have_no_dropout_where_no_layer_has(encoder_folder):
    task = {"train": ["world:qaa"], "evaluate": ["world:qaa"], "tuning": {"encoder_dropout": False}}
    declared = {"name": "s", "encoders": [str(encoder_folder)], "schedules": ["freeze:1,frozen_dropout"]}
    with pytest.raises(StudyError) as caught:
        compile_study(Study.model_validate(declared | {"tasks": {"pos": task}}))
    assert caught.value.faults == (
        "schedules.0: frozen_dropout: tasks.pos has encoder_dropout: false, so that no layer has dropout; leave one of "
        "the two out",
    )


@torch.no_grad()
def test_nothing_of_a_sentence_without_known_pieces_is_scored(encoder, sentences):
    known = sentences[:3]
    odd = [known[0], "☃ ☃", *known[1:]]
    assert encoder.tokenizer("☃", add_special_tokens=False)["input_ids"] == [encoder.tokenizer.unk_token_id]
    (found,) = language_model(encoder, "drawn-test-masks").scores(odd)
    assert found.denominators[1] == found.numerators[1] == 0 and all(found.denominators[k] for k in (0, 2, 3))


def test_dev_sets_are_masked_as_ever(encoder, sentences):
    """What is measured of them while training is a matter of the probes' quirks."""
    (usual,), (found,) = (
        language_model(encoder, *quirks)
        .training(sentences[:9], {"dev": sentences[9:20]})
        .evaluate(encoder.model)
        .values()
        for quirks in ((), tuple(OF_LANGUAGE))
    )
    assert found == usual


def test_what_computes_layers_twice_needs_training_mode():
    with pytest.raises(ValueError, match="recompute and encoder_dropout: false do not go together"):
        Tuning(recompute=True, encoder_dropout=False)


def test_a_bilstm_has_no_encoder(encoder_folder):
    task = {"train": ["world:qaa"], "evaluate": ["world:qaa"], "recurrent": {"encoder_dropout": False}}
    with pytest.raises(ValueError, match="encoder_dropout=false: a BiLSTM has no encoder"):
        Study.model_validate({"name": "s", "encoders": [str(encoder_folder)], "tasks": {"pos": task}})


def states(encoder: Encoder, batch: Batch) -> torch.Tensor:
    mask = torch.ones_like(batch.ids)
    every = encoder.backbone(input_ids=batch.ids, attention_mask=mask, output_hidden_states=True).hidden_states
    return torch.stack(every)


@torch.no_grad()
def test_states_of_masked_sentences_are_compared(encoder, other_tokenizer, data):
    shape = Shape(hidden=32, layers=2, heads=2, feed_forward=64, positions=24)
    native = new_encoder(shape, other_tokenizer, seed=1, name="native")
    quirks = ("own-tokenizer", "no-attention-mask", "masked-states")
    rows = measured(encoder, native, data, quirks, step=5)
    gaps: list[list[float]] = [[], [], []]
    seeds = {"own": derive_seed(3, "probe", 5), "native": 0}
    chance = {name: torch.Generator().manual_seed(seed) for name, seed in seeds.items()}
    for start in (0, BATCH):
        shown = []
        for name, model in (("own", encoder), ("native", native)):
            pieces = language_model(model).held_out(data.read()).pieces
            batch = pieces.batch(np.arange(start, min(start + BATCH, 18)))
            shown.append(states(model, Masking(model.tokenizer, 0.15).draw(batch, chance[name]).batch))
        width = min(each.shape[2] for each in shown)
        for layer in range(3):
            gaps[layer] += (shown[0][layer, :, :width] - shown[1][layer, :, :width]).norm(dim=-1).flatten().tolist()
    found = [row.value for row in rows if row.measure == "distance to native"]
    assert found == pytest.approx([sum(each) / len(each) for each in gaps], rel=1e-2)  # states are kept in 16 bits
    moved = [row.value for row in rows if row.measure == "distance to start"]
    assert all(moved)  # masked otherwise, though nothing was trained
    assert rows == measured(encoder, native, data, quirks, step=5) != measured(encoder, native, data, quirks, step=6)
    words = [
        row for row in measured(encoder, native, data, ("masked-states",), 5) if row.measure == "distance to start"
    ]
    assert all(row.value for row in words)


def test_tunings_and_references_have_the_quirks_of_their_task(encoder_folder):
    task = {
        "train": ["world:qaa"], "evaluate": ["world:qab"], "quirks": ["drawn-test-masks"],
        "probes": {"perplexity": {"all": ["world:qaa"]}},
    }  # fmt: skip
    declared = {"name": "s", "encoders": [str(encoder_folder)], "references": ["world-natural"], "tasks": {"mlm": task}}
    steps = compile_study(Study.model_validate(declared)).steps.values()
    having = {type(step).__name__ for step in steps if getattr(step, "quirks", ()) == ("drawn-test-masks",)}
    assert having == {"Tune", "ScoreReference"}
    task["quirks"] = ["self-arcs"]
    with pytest.raises(
        (StudyError, ValueError), match="the quirk cannot be 'self-arcs'; allowed: padding-as-text, drawn-test-masks"
    ):
        compile_study(Study.model_validate(declared))
