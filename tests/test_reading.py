"""Models that read a language with its own tokenizer: what they say of it, and of languages that have none."""

from __future__ import annotations

import math

import pytest
import torch

from babelscope.core.seeds import derive_seed
from babelscope.corpora.datasets import find
from babelscope.encoders.bring_in import bring_in, own_pieces, random_rows
from babelscope.encoders.load import Encoder, load_encoder
from babelscope.encoders.own_vocabulary import own_vocabulary
from babelscope.encoders.state import weights_of, with_weights
from babelscope.tasks.design import Design, Predictor, TaskModel
from babelscope.tasks.export import load_model, save_model
from babelscope.tasks.measured import measured
from babelscope.tasks.models import known_words, recurrent_model, task_model
from babelscope.world import World
from babelscope.world.meaning import NAME_CLASS

TYPES = tuple(sorted(set(NAME_CLASS.values())))
MODELS = [
    ("pos", {}), ("ner", {"entity_types": TYPES}), ("parsing", {}), ("inference", {}),
    ("inference", {"head": "pooler"}), ("inference", {"head": "family"}), ("acceptability", {"max_length": 9}),
    ("similarity", {}), ("mlm", {}), ("pos", {"max_length": 9}), ("mlm", {"max_length": 9}),
]  # fmt: skip
models = pytest.mark.parametrize(("task", "choices"), MODELS)


def with_language(encoder: Encoder, language: str) -> Encoder:
    """The encoder with a language of the world brought in."""
    tokenizer = own_vocabulary(encoder, World().text(language, 120), 150)
    rows = random_rows(encoder, len(own_pieces(encoder, tokenizer)), 3, language)
    return bring_in(encoder, {language: tokenizer}, rows)


@pytest.fixture(scope="module")
def plain(encoder_folder):
    """An encoder that reads all languages alike."""
    return load_encoder(encoder_folder)


@pytest.fixture(scope="module")
def bilingual(plain):
    """One that reads qab and qah each with its own tokenizer."""
    return with_language(with_language(plain, "qab"), "qah")


def made(encoder: Encoder, task: str, **choices) -> TaskModel:
    """A model of a copy of the encoder, whose predictions differ, as if it were trained."""
    torch.manual_seed(1)
    model = task_model(with_weights(encoder, weights_of(encoder)), Design(task, **choices))
    with torch.no_grad():
        for name, weight in model.module.named_parameters():
            if task != "mlm" and not name.startswith("backbone"):
                generator = torch.Generator().manual_seed(derive_seed(2, name))
                weight.add_(0.3 * torch.randn(weight.shape, generator=generator))
    model.module.eval()
    return model


def examples(task: str, language: str):
    return find(task, f"world:{language}", "test", 40).read()


def said_of(model: TaskModel, task: str, language: str):
    """Scores, losses, and predictions where there are any."""
    data = examples(task, language)
    predicted = None
    if isinstance(model.module, Predictor):
        kind_inputs = {"pos": "forms", "parsing": "forms", "ner": "words"}
        predicted = model.module.predict([getattr(one, kind_inputs.get(task, "text")) for one in data])
    return model.scores(data), measured(model, data)(), predicted


@models
def test_a_language_is_read_as_a_model_of_its_own_encoder_reads_it(task, choices, bilingual):
    model = made(bilingual, task, **choices)
    for language in ("qab", "qah"):
        reading = model.reading(language)
        expected = made(bilingual.reading(language), task, **choices)
        assert said_of(reading, task, language) == said_of(expected, task, language)
        assert said_of(reading, task, language) != said_of(model, task, language)
        assert model.reading("qah").reading(language).encoder.tokenizer is bilingual.languages[language]
    assert model.reading("qaa") is model and model.reading("qah>world") is model


@models
def test_other_languages_are_read_as_before_to_the_last_bit(task, choices, plain, bilingual):
    before, after = made(plain, task, **choices), made(bilingual, task, **choices)
    with torch.no_grad():  # a family's own head is drawn after its embeddings
        given = dict(before.module.named_parameters())
        for name, weight in after.module.named_parameters():
            if weight.shape == given[name].shape:
                weight.copy_(given[name])
    assert said_of(after.reading("qaa"), task, "qaa") == said_of(before, task, "qaa")
    assert before.reading("qab") is before


@models
def test_a_head_can_stand_on_an_encoder_with_more_languages(task, choices, plain, bilingual):
    before, given = made(plain, task, **choices), made(bilingual, task, **choices)
    after = before.with_encoder(given.encoder)
    assert said_of(after, task, "qaa") == said_of(before, task, "qaa")
    heads = {name: weight for name, weight in before.module.named_parameters() if task != "mlm"}
    with torch.no_grad():
        for name, weight in given.module.named_parameters():
            if name in heads and weight.shape == heads[name].shape:
                weight.copy_(heads[name])
    for language in ("qab", "qah"):
        assert said_of(after.reading(language), task, language) == said_of(given.reading(language), task, language)


@models
def test_weights_are_the_very_same_and_training_one_trains_the_other(task, choices, bilingual):
    model = made(bilingual, task, **choices)
    reading = model.reading("qab")
    mine, others = dict(model.module.named_parameters()), dict(reading.module.named_parameters())
    assert mine.keys() == others.keys() and all(mine[name] is others[name] for name in mine)
    model.module.train()
    assert model.reading("qab").module.training
    model.module.eval()
    assert not model.reading("qab").module.training


def test_hidden_pieces_are_told_from_those_that_the_tokenizer_has(bilingual):
    """The oracle: one hidden piece after another, over the pieces whose text the tokenizer itself gives back."""
    for language in ("qaa", "qab", "qah"):
        model = made(bilingual, "mlm").reading(language)
        tokenizer, network = model.encoder.tokenizer, model.encoder.model
        there = [number for piece, number in tokenizer.get_vocab().items() if not piece.startswith(" ")]
        held_out, total, count = model.held_out(examples("mlm", language)[:5]), 0.0, 0
        for ids, places in zip(held_out.pieces, held_out.places, strict=True):
            shown = torch.tensor(ids)
            shown[places] = tokenizer.mask_token_id
            with torch.no_grad():
                logits = network(input_ids=shown[None]).logits[0]
            for place in places:
                total -= float(logits[place, ids[place]] - logits[place, there].logsumexp(0))
                count += 1
        assert held_out.perplexity(network) == pytest.approx(math.exp(total / count), rel=1e-5)
        assert (len(there) < len(tokenizer)) == (language != "qaa") and len(there) < network.config.vocab_size


EXPORTED = [
    ("pos", {}), ("ner", {"entity_types": TYPES}), ("parsing", {}), ("inference", {"head": "pooler"}),
    ("similarity", {"head": "family"}), ("pos", {"max_length": 9}),
]  # fmt: skip


@pytest.mark.parametrize(("task", "choices"), EXPORTED)
def test_a_model_read_back_says_the_same_in_every_language(task, choices, bilingual, tmp_path):
    model = made(bilingual, task, **choices)
    said = {language: said_of(model.reading(language), task, language) for language in ("qaa", "qab", "qah")}
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert list(again.languages) == ["qab", "qah"]
    for language, expected in said.items():
        assert said_of(again.reading(language), task, language) == expected


def test_a_masked_language_model_is_an_encoder_with_its_languages(bilingual, tmp_path):
    model = made(bilingual, "mlm")
    save_model(model, tmp_path / "model")
    again = task_model(load_encoder(tmp_path / "model"), model.design)
    for language in ("qaa", "qab", "qah"):
        read = (said_of(one.reading(language), "mlm", language) for one in (model, again))
        assert next(read) == next(read)


def test_a_bilstm_reads_all_languages_alike():
    train = examples("pos", "qab")
    model = recurrent_model(Design("pos"), known_words(train))
    assert model.reading("qab") is model and not model.languages
