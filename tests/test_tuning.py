import math
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import nn

from babelscope.core.errors import DivergedError, InputError
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.tasks.mlm import HeldOut
from babelscope.tasks.tag import Tagging
from babelscope.tuning import loop
from babelscope.tuning.batches import epoch_batches
from babelscope.tuning.checkpoint import kept_weights, module_weights
from babelscope.tuning.language import learn_language
from babelscope.tuning.loop import tune
from babelscope.tuning.optimizer import learning_rate
from babelscope.tuning.settings import Tuning
from families import FAMILIES
from taggers import QUICK, a_tagger, family_encoder, same_weights

# --- settings


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_trained_in_bfloat16_or_refused(family, tokenizer, tagged, tmp_path):
    tagger, tuning = a_tagger(family_encoder(family, tokenizer)), Tuning(steps=1, precision="bfloat16")
    refused = pytest.raises(InputError, match="declare precision: float32") if family == "deberta" else nullcontext()
    with refused:
        assert tune(tagger, Tagging(tagger, tagged[:4]), tuning, 0, tmp_path).last_step == 1


def test_one_duration():
    assert (Tuning().epochs, Tuning().steps) == (6, None)
    assert (Tuning(steps=10).epochs, Tuning(steps=10).steps) == (None, 10)
    with pytest.raises(ValidationError, match="epochs=2 and steps=3: give one of them"):
        Tuning(epochs=2, steps=3)


def test_one_size_of_batches():
    assert (Tuning().tokens_per_batch, Tuning().examples_per_batch) == (512, None)
    by_examples = Tuning(examples_per_batch=32)
    assert (by_examples.tokens_per_batch, by_examples.examples_per_batch) == (None, 32)
    assert Tuning.model_validate(by_examples.model_dump()) == by_examples
    with pytest.raises(ValidationError, match="tokens_per_batch=64 and examples_per_batch=8: give one of them"):
        Tuning(tokens_per_batch=64, examples_per_batch=8)


def test_one_rhythm_of_validations():
    with pytest.raises(ValidationError, match="validate_every=9 and validations_per_epoch=4: give one of them"):
        Tuning(validate_every=9, validations_per_epoch=4)


@pytest.mark.parametrize(
    "wrong", [{"learning_rate": 0}, {"warmup": 1.0}, {"precision": "float16"}, {"epochs": 0}, {"rate": 1}]
)
def test_senseless_settings_are_refused(wrong):
    with pytest.raises(ValidationError):
        Tuning(**wrong)


# --- the loop


def test_tagging_is_learned(encoder, tagged, tmp_path):
    tagger = a_tagger(encoder, encoder_dropout=0.0)
    task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
    history = tune(tagger, task, QUICK.model_copy(update={"epochs": 8}), 0, tmp_path)
    assert task.evaluate(tagger)["qaa"] > 0.95
    losses = [point.value for point in history.points if point.measure == "loss"]
    assert losses[-1] < 0.3 * losses[0]
    assert not tagger.training


def test_loop_equals_a_plain_one(encoder, tagged, tmp_path):
    """The same steps written out, with another optimizer implementation and no dropout."""
    tuning = QUICK.model_copy(update={"epochs": 1, "weight_decay": 0.0, "clip": 0.5})
    ours, plain = (a_tagger(encoder, dropout=0.0, encoder_dropout=0.0) for _ in range(2))
    task = Tagging(ours, tagged)
    tune(ours, task, tuning, 0, tmp_path)
    optimizer = torch.optim.AdamW(plain.parameters(), lr=1.0, weight_decay=0.0, foreach=False)
    batches = epoch_batches(task.lengths, 128, 0, 0)
    for step, indices in enumerate(batches, start=1):
        optimizer.param_groups[0]["lr"] = learning_rate(step, len(batches), tuning)
        optimizer.zero_grad()
        task.loss(plain, task.batch(indices, torch.Generator())).backward()
        gradients = [p.grad for p in plain.parameters() if p.grad is not None]
        norm = math.sqrt(sum(float(g.square().sum()) for g in gradients))
        for gradient in gradients:
            gradient.mul_(min(1.0, 0.5 / norm))
        optimizer.step()
    for name, tensor in plain.named_parameters():
        torch.testing.assert_close(ours.get_parameter(name), tensor, atol=1e-4, rtol=1e-3)


def test_same_seed_same_bits_other_seed_other_bits(encoder, tagged, tmp_path):
    results = []
    for run, seed in enumerate((1, 1, 2)):
        torch.manual_seed(run)  # what happened before must not matter
        tagger = a_tagger(encoder, encoder_dropout=0.1)
        history = tune(tagger, Tagging(tagger, tagged), QUICK, seed, tmp_path / str(run))
        results.append((module_weights(tagger), history))
    assert same_weights(results[0][0], results[1][0])
    assert results[0][1] == results[1][1]
    assert not same_weights(results[0][0], results[2][0])


@dataclass(frozen=True)
class Scripted:
    """A task of one parameter whose dev values are written down."""

    values: tuple[float, ...]
    higher_is_better: bool = True
    bad_step: int | None = None
    measure: str = "score"

    @property
    def lengths(self):
        return np.ones(1, dtype=np.int64)

    def batch(self, indices, generator):
        return None

    def loss(self, model, batch):
        model.steps += 1
        return model.weight.sum() * (math.nan if model.steps == self.bad_step else 1.0)

    def evaluate(self, model):
        model.validations += 1
        value = self.values[model.validations - 1]
        return {"a": value - 1, "b": value + 1}


def scripted_model():
    model = nn.Linear(1, 1, bias=False)
    model.steps = model.validations = 0
    return model


@pytest.mark.parametrize(("higher", "best"), [(True, 2), (False, 3)])
def test_the_best_of_the_dev_sets_is_kept(tmp_path, higher, best):
    model, task = scripted_model(), Scripted((0.5, 0.9, 0.1, 0.9, 0.1), higher)
    tuning = Tuning(epochs=5, learning_rate=0.1, warmup=0)
    seen = []
    history = tune(model, task, tuning, 0, tmp_path, lambda *_, loss: seen.append(loss))
    # The loss of a step is the weight before it, so the weight after step `best` is the next step's loss.
    assert model.weight.item() == pytest.approx(seen[best])
    assert (history.best_step, history.last_step) == (best, 5)
    assert seen[-1] < model.weight.item()  # it went on, and came back
    curve = [point.value for point in history.points if point.split == "dev a"]
    assert curve == [value - 1 for value in task.values]


def test_early_stopping(tmp_path):
    model, task = scripted_model(), Scripted((0.5, 0.9, 0.1, 0.2, 1.0))
    history = tune(model, task, Tuning(epochs=5, patience=2), 0, tmp_path)
    assert (history.best_step, history.last_step, history.planned_steps) == (2, 4, 5)


def test_validation_every_k_steps_and_at_the_end(tmp_path):
    task = Scripted((1.0, 2.0, 3.0))
    history = tune(scripted_model(), task, Tuning(steps=8, validate_every=3), 0, tmp_path)
    assert [point.step for point in history.points if point.split == "dev a"] == [3, 6, 8]


def test_diverged_loss_names_step_rate_and_advice(tmp_path):
    task = replace(Scripted((1.0,) * 9), bad_step=4)
    with pytest.raises(DivergedError, match=r"became nan at step 4, learning rate 0\.07.*learning rate of half"):
        tune(scripted_model(), task, Tuning(epochs=9, learning_rate=0.1), 0, tmp_path)


def test_nothing_to_train_on(encoder, tmp_path):
    tagger = a_tagger(encoder, encoder_dropout=0.1)
    with pytest.raises(InputError, match="training data is empty"):
        tune(tagger, Tagging(tagger, []), QUICK, 0, tmp_path)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_absent_device(encoder, tagged, tmp_path):
    tagger = a_tagger(encoder, encoder_dropout=0.1)
    with pytest.raises(InputError, match="device cuda: torch sees none here"):
        tune(tagger, Tagging(tagger, tagged), QUICK.model_copy(update={"device": "cuda"}), 0, tmp_path)


def test_bfloat16_learns_too(encoder, tagged, tmp_path):
    tagger = a_tagger(encoder, encoder_dropout=0.0)
    tune(tagger, Tagging(tagger, tagged), QUICK.model_copy(update={"precision": "bfloat16", "epochs": 6}), 0, tmp_path)
    task = Tagging(tagger, [], {"qaa": tagged})
    assert task.evaluate(tagger)["qaa"] > 0.9
    assert tagger.classifier.weight.dtype == torch.float32


def test_the_process_is_left_as_it_was(encoder, tagged, tmp_path):
    torch.manual_seed(4)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    tagger = a_tagger(encoder, encoder_dropout=0.1)
    torch.set_rng_state(state)
    tune(tagger, Tagging(tagger, tagged), QUICK.model_copy(update={"threads": 2}), 0, tmp_path)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


def test_pretraining_lowers_perplexity(tokenizer, sentences, tmp_path):
    shape = Shape(hidden=32, layers=2, feed_forward=64, positions=24)
    tuning = Tuning(learning_rate=5e-3, epochs=15, tokens_per_batch=128, betas=(0.9, 0.98))
    encoder = new_encoder(shape, tokenizer, 0, "new")
    history = learn_language(encoder, sentences[:50], tmp_path, tuning=tuning, dev={"qaa": sentences[50:]})
    curve = [point.value for point in history.points if point.split == "dev qaa"]
    assert min(curve) < 0.3 * len(tokenizer)
    best = HeldOut.of(tokenizer, sentences[50:], 24).perplexity(encoder.model)
    assert best == min(curve)


@pytest.mark.parametrize(("dev", "written"), [(False, 1), (True, None)])
def test_without_dev_sets_the_last_weights_are_written_once(encoder, tagged, tmp_path, monkeypatch, dev, written):
    """They are the model's, as it ends; with dev sets each best is written, as it comes."""
    writes, write = [], loop.write_weights
    monkeypatch.setattr(loop, "write_weights", lambda *given: (writes.append(given), write(*given))[1])
    tagger = a_tagger(encoder)
    history = tune(tagger, Tagging(tagger, tagged, {"dev": tagged[:9]} if dev else {}), QUICK, 1, tmp_path)
    assert len(writes) == written if written else len(writes) >= 1
    assert dev or history.best_step == history.last_step
    assert same_weights(kept_weights(tmp_path / "best.safetensors"), module_weights(tagger))
