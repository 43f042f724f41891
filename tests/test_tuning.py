import copy
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import nn

from babelscope.core.errors import DivergedError, InputError
from babelscope.core.examples import Tagged
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.surgery import apply
from babelscope.tasks.apart import Apart
from babelscope.tasks.mlm import HeldOut, MaskedLanguageModelling
from babelscope.tasks.tag import Tagger, Tagging
from babelscope.tuning.batches import BATCHES_PER_POOL, Order, epoch_batches
from babelscope.tuning.checkpoint import module_weights, read_weights
from babelscope.tuning.flat import flattened
from babelscope.tuning.freezing import Rule, trained_part
from babelscope.tuning.language import learn_language
from babelscope.tuning.loop import tune
from babelscope.tuning.optimizer import adamw, learning_rate, set_rate
from babelscope.tuning.settings import Tuning

LABELS = ("ADJ", "DET", "NOUN", "PUNCT", "VERB")
QUICK = Tuning(learning_rate=3e-3, epochs=2, tokens_per_batch=128)


class StoppedError(Exception):
    """What stops a run in a test."""


def stop_at(step):
    def progress(done, total, **numbers):
        if done == step:
            raise StoppedError

    return progress


def a_tagger(encoder, dropout=0.1, encoder_dropout=0.1):
    torch.manual_seed(0)
    tagger = Tagger(copy.deepcopy(encoder), LABELS, dropout)
    for module in tagger.backbone.modules():
        if isinstance(module, nn.Dropout):
            module.p = encoder_dropout
    return tagger


def same_weights(first, second):
    return all(torch.equal(first[name], second[name]) for name in first) and first.keys() == second.keys()


# --- settings


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


# --- batches

LENGTHS = st.lists(st.integers(1, 70), min_size=1, max_size=300).map(lambda values: np.array(values, dtype=np.int64))


@settings(max_examples=100, deadline=None)
@given(LENGTHS, st.integers(8, 256), st.integers(0, 9), st.integers(0, 5))
def test_every_example_once_an_epoch_within_the_budget(lengths, budget, seed, epoch):
    batches = epoch_batches(lengths, budget, seed, epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert all(len(batch) == 1 or lengths[batch].max() * len(batch) <= budget for batch in batches)
    again = epoch_batches(lengths, budget, seed, epoch)
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in again]


def test_batches_have_little_padding_and_much_chance():
    lengths = np.random.default_rng(0).integers(5, 40, 3000)
    batches = epoch_batches(lengths, 512, 0, 0)
    padded = sum(int(lengths[batch].max()) * len(batch) for batch in batches)
    assert padded < 1.05 * lengths.sum()
    assert len(batches) > BATCHES_PER_POOL
    other = epoch_batches(lengths, 512, 0, 1)
    assert not {tuple(sorted(batch)) for batch in batches} & {tuple(sorted(batch)) for batch in other}
    means = [lengths[batch].mean() for batch in batches]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.2


@settings(max_examples=30, deadline=None)
@given(LENGTHS, st.integers(1, 40))
def test_a_run_has_as_many_steps_as_it_says(lengths, steps):
    by_steps, by_epochs = Tuning(steps=steps, tokens_per_batch=64), Tuning(epochs=3, tokens_per_batch=64)
    order = Order(lengths, by_steps, 0)
    assert len(list(order.turns())) == order.count_steps() == steps
    order = Order(lengths, by_epochs, 0)
    run = list(order.turns())
    assert len(run) == order.count_steps()
    assert sum(turn.ends_epoch for turn in run) == 3
    assert run[-1].ends_epoch
    assert np.bincount(np.concatenate([turn.batch for turn in run])).tolist() == [3] * len(lengths)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 4), st.integers(0, 9))
def test_batches_of_examples_are_full_and_the_last_is_the_rest(examples, size, epochs, seed):
    tuning = Tuning(epochs=epochs, examples_per_batch=size)
    lengths = np.arange(1, examples + 1)
    order = Order(lengths, tuning, seed)
    run = list(order.turns())
    an_epoch = -(-examples // size)
    assert len(run) == order.count_steps() == epochs * an_epoch
    for first in range(0, len(run), an_epoch):
        turns = run[first : first + an_epoch]
        assert sorted(np.concatenate([turn.batch for turn in turns])) == list(range(examples))
        assert [len(turn.batch) for turn in turns[:-1]] == [size] * (an_epoch - 1)
        assert [turn.ends_epoch for turn in turns] == [False] * (an_epoch - 1) + [True]
    again = [turn.batch.tolist() for turn in order.turns()]
    assert [turn.batch.tolist() for turn in run] == again


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 90), min_size=1, max_size=4), st.integers(1, 40), st.integers(0, 9))
def test_batches_of_examples_of_one_language(sizes, size, seed):
    """Every language's every example once an epoch; steps are those of each language, one after the other."""
    tuning = Tuning(epochs=2, examples_per_batch=size, batches="one-language")
    groups = np.repeat(np.arange(len(sizes)), sizes)
    order = Order(np.ones(len(groups)), tuning, seed, groups)
    run = list(order.turns())
    assert len(run) == order.count_steps() == 2 * sum(-(-n // size) for n in sizes)
    assert all(len(set(groups[turn.batch])) == 1 for turn in run)
    epoch = run[: len(run) // 2]
    assert sorted(np.concatenate([turn.batch for turn in epoch])) == list(range(len(groups)))
    for language, count in enumerate(sizes):
        counted = sorted((len(turn.batch) for turn in epoch if groups[turn.batch[0]] == language), reverse=True)
        assert counted == [size] * (count // size) + [count % size] * (count % size > 0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=90), st.integers(1, 20), st.booleans())
def test_the_parts_of_an_example_are_in_one_batch(parts, size, apart):
    """An example that is read in several windows counts once, and comes as a whole."""
    examples = len(parts)
    owners = np.repeat(np.arange(examples), parts)
    groups = np.repeat(np.arange(examples) >= examples // 2, parts).astype(int) if apart else None
    tuning = Tuning(epochs=1, examples_per_batch=size, batches="one-language" if apart else "mixed")
    order = Order(np.ones(len(owners)), tuning, 0, groups, owners)
    run = [turn.batch for turn in order.turns()]
    sizes = [examples // 2, examples - examples // 2] if apart else [examples]
    expected = sum(-(-count // size) for count in sizes)
    assert len(run) == order.count_steps() == expected
    assert sorted(np.concatenate(run)) == list(range(len(owners)))
    assert sum(len(set(owners[batch])) for batch in run) == examples


def test_examples_are_sentences_for_every_objective(encoder, tokenizer, tagged, sentences):
    """Sentences of more windows than one, for two languages and for language modelling, unusable ones left out."""
    long = Tagged(tagged[0].words * 5, tagged[0].labels * 5)
    given = [tagged[1], Tagged([], []), long, tagged[2]]
    task = Apart([Tagging(a_tagger(encoder), given), Tagging(a_tagger(encoder), [long, tagged[3]])])
    windows = len(Tagging(a_tagger(encoder), [long]).lengths)
    assert windows > 1
    assert task.owners.tolist() == [0, *[2] * windows, 3, *[4] * windows, 5]
    lines = [sentences[0], "\u2603", " ".join(sentences[:4]), sentences[1]]
    language = MaskedLanguageModelling(tokenizer, lines, 24, pairs=[(sentences[0], sentences[1])])
    assert language.owners.tolist() == [0, *[2] * (len(language.lengths) - 3), 3, 4]
    assert len(language.lengths) > 4


def test_batches_of_examples_have_no_order_of_length_or_language():
    lengths, groups = np.tile(np.arange(500), 2), np.repeat([0, 1], 500)
    tuning = Tuning(epochs=2, examples_per_batch=10, batches="one-language")
    run = list(Order(lengths, tuning, 0, groups).turns())
    first, second = run[:100], run[100:]
    assert abs(np.corrcoef([groups[turn.batch[0]] for turn in first], np.arange(100))[0, 1]) < 0.3
    assert np.mean([np.std(lengths[turn.batch]) for turn in first]) > 100  # 144 in all of them; sorted it would be 3
    assert not {tuple(sorted(turn.batch)) for turn in first} & {tuple(sorted(turn.batch)) for turn in second}


@pytest.mark.parametrize(
    ("examples", "parts", "after"), [(80, 4, [2, 4, 6, 8]), (95, 4, [3, 5, 8, 10]), (25, 4, [1, 2, 3])]
)
def test_validations_in_equal_parts_of_an_epoch(examples, parts, after):
    tuning = Tuning(epochs=2, examples_per_batch=10, validations_per_epoch=parts)
    turns = list(enumerate(Order(np.ones(examples), tuning, 0).turns(), 1))
    due = [step for step, turn in turns if turn.is_validated(step, tuning)]
    assert due == [*after, *(after[-1] + step for step in after)]


# --- schedule and optimizer


def test_learning_rate_rises_and_falls_linearly():
    tuning = Tuning(learning_rate=1.0, warmup=0.25)
    assert [round(learning_rate(step, 8, tuning), 4) for step in range(1, 9)] == [
        0.5, 1.0, 1.0, 0.8333, 0.6667, 0.5, 0.3333, 0.1667,
    ]  # fmt: skip
    assert learning_rate(1, 8, Tuning(learning_rate=1.0, warmup=0)) == 1.0


def test_optimizer_step_equals_the_formula_of_adamw():
    """One step by hand: moments, bias correction, decoupled decay on matrices only."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    tuning = Tuning(learning_rate=0.1, weight_decay=0.5, betas=(0.9, 0.99), epsilon=1e-6)
    before = {name: tensor.clone() for name, tensor in layer.named_parameters()}
    optimizer = adamw([layer.weight, layer.bias], [Rule(decays=True), Rule(decays=False)], tuning)
    layer(torch.ones(1, 3)).square().sum().backward()
    gradients = {name: tensor.grad.clone() for name, tensor in layer.named_parameters()}
    optimizer.step()
    for name, tensor in layer.named_parameters():
        decay = 0.5 if name == "weight" else 0.0
        first = 0.1 * gradients[name] / (1 - 0.9)
        second = 0.01 * gradients[name] ** 2 / (1 - 0.99)
        expected = before[name] * (1 - 0.1 * decay) - 0.1 * first / (second.sqrt() + 1e-6)
        torch.testing.assert_close(tensor.detach(), expected)


def test_steps_without_bias_correction_equal_the_formula():
    """By hand: running means from 0 as they are, decoupled decay on matrices only; a changing rate."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    tuning = Tuning(learning_rate=0.1, weight_decay=0.5, betas=(0.9, 0.99), epsilon=1e-3, bias_correction=False)
    optimizer = adamw([layer.weight, layer.bias], [Rule(decays=True, factor=0.5), Rule(decays=False)], tuning)
    expected = {name: tensor.detach().clone() for name, tensor in layer.named_parameters()}
    means = {name: (torch.zeros_like(tensor), torch.zeros_like(tensor)) for name, tensor in expected.items()}
    for rate in (0.1, 0.05, 0.2):
        layer(torch.ones(1, 3)).square().sum().backward()
        for name, tensor in layer.named_parameters():
            own_rate, decay = (0.5 * rate, 0.5) if name == "weight" else (rate, 0.0)
            first, second = means[name]
            means[name] = first, second = 0.9 * first + 0.1 * tensor.grad, 0.99 * second + 0.01 * tensor.grad**2
            expected[name] *= 1 - own_rate * decay
            expected[name] -= own_rate * first / (second.sqrt() + 1e-3)
        set_rate(optimizer, rate, tuning)
        optimizer.step()
        optimizer.zero_grad()
        for name, tensor in layer.named_parameters():
            torch.testing.assert_close(tensor.detach(), expected[name])


def test_matrices_decay_and_vectors_do_not(encoder):
    model, shapes = copy.deepcopy(encoder.model), {}
    for name, parameter in model.named_parameters():
        parameter.data.fill_(name.endswith("bias") or "LayerNorm" in name)
        shapes[name] = parameter.shape
    with trained_part(model, None, [1], 0) as part:
        assert [rule.decays for rule in part.rules] == [True, False]
        assert not part.flats[0].any()
        assert part.flats[1].all()
        assert sum(flat.numel() for flat in part.flats) == sum(shape.numel() for shape in shapes.values())
    assert {name: parameter.shape for name, parameter in model.named_parameters()} == shapes


def test_flattened_parameters_are_views_while_it_lasts():
    layer = nn.Linear(3, 2)
    weight, before = layer.weight, layer.weight.detach().clone()
    with flattened([[layer.weight], [layer.bias]]) as (flat, _):
        layer(torch.ones(1, 3)).sum().backward()
        assert torch.equal(flat.grad, torch.ones(6))
        flat.data.add_(1)
    assert layer.weight is weight
    assert torch.equal(weight, before + 1)
    assert weight.grad is None
    flat.data.zero_()
    assert torch.equal(weight, before + 1)


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
        tagger = a_tagger(encoder)
        history = tune(tagger, Tagging(tagger, tagged), QUICK, seed, tmp_path / str(run))
        results.append((module_weights(tagger), history))
    assert same_weights(results[0][0], results[1][0])
    assert results[0][1] == results[1][1]
    assert not same_weights(results[0][0], results[2][0])


PUBLISHED = {"examples_per_batch": 8, "validations_per_epoch": 2, "bias_correction": False}
"""Batches in examples and the settings that papers name beside them."""


@pytest.mark.parametrize(
    ("stops", "tuning"),
    [
        ((1,), {"validate_every": 2}),
        ((3, 7), {"validate_every": 2}),
        ((2, 4, 6), {"validate_every": 2}),
        ((3, 7), PUBLISHED),
    ],
)
def test_a_resumed_run_equals_an_uninterrupted_one(encoder, tagged, tmp_path, stops, tuning):
    def run(folder, progress):
        tagger = a_tagger(encoder)
        task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        settings = Tuning(
            learning_rate=3e-3,
            epochs=2,
            **({} if "examples_per_batch" in tuning else {"tokens_per_batch": 128}),
            **tuning,
        )
        history = tune(tagger, task, settings, 0, folder, progress, checkpoint_seconds=0.0)
        return module_weights(tagger), read_weights(folder / "last.safetensors"), history

    for stop in stops:
        with pytest.raises(StoppedError):
            run(tmp_path / "stopped", stop_at(stop))
    steps = []
    resumed = run(tmp_path / "stopped", lambda done, total, **numbers: steps.append(done))
    whole = run(tmp_path / "whole", lambda done, total, **numbers: None)
    assert steps[0] == stops[-1] + 1
    assert same_weights(resumed[0], whole[0])
    assert same_weights(resumed[1], whole[1])
    assert resumed[2] == whole[2]
    assert sorted(path.name for path in (tmp_path / "stopped").iterdir()) == ["best.safetensors", "last.safetensors"]


def test_resumed_pretraining_equals_an_uninterrupted_one(tokenizer, sentences, tmp_path):
    def run(folder, progress):
        tuning = Tuning(learning_rate=2e-3, steps=12, tokens_per_batch=128)
        shape = Shape(hidden=16, layers=1, feed_forward=32, positions=24, dropout=0.1)
        encoder = new_encoder(shape, tokenizer, 3, "new")
        quiet = {"tuning": tuning, "dev": {"dev": sentences[:5]}, "seed": 3, "checkpoint_seconds": 0.0}
        return encoder, learn_language(encoder, sentences, folder, progress=progress, **quiet)

    with pytest.raises(StoppedError):
        run(tmp_path / "stopped", stop_at(5))
    resumed, resumed_history = run(tmp_path / "stopped", lambda done, total, **numbers: None)
    whole, whole_history = run(tmp_path / "whole", lambda done, total, **numbers: None)
    assert same_weights(module_weights(resumed.model), module_weights(whole.model))
    assert resumed_history == whole_history
    assert resumed.has_mlm_head


def test_another_runs_checkpoint_is_refused(encoder, tagged, tmp_path):
    def run(tuning, progress):
        tagger = a_tagger(encoder)
        tune(tagger, Tagging(tagger, tagged), tuning, 0, tmp_path, progress, checkpoint_seconds=0.0)

    with pytest.raises(StoppedError):
        run(QUICK, stop_at(2))
    with pytest.raises(InputError, match=r"checkpoint\.safetensors: a checkpoint of another training run"):
        run(QUICK.model_copy(update={"learning_rate": 1e-4}), stop_at(2))


def spoil_header(content):
    return b"\x00" * len(content)


def cut_in_half(content):
    return content[: len(content) // 2]


def lose_state(content):
    return content.replace(b'"state"', b'"stale"')


@pytest.mark.parametrize("spoil", [spoil_header, cut_in_half, lose_state, lambda content: b""])
def test_a_damaged_checkpoint_counts_as_none(encoder, tagged, tmp_path, spoil):
    def run(folder, progress):
        tagger = a_tagger(encoder)
        history = tune(tagger, Tagging(tagger, tagged), QUICK, 0, folder, progress, checkpoint_seconds=0.0)
        return module_weights(tagger), history

    with pytest.raises(StoppedError):
        run(tmp_path / "spoiled", stop_at(2))
    checkpoint = tmp_path / "spoiled" / "checkpoint.safetensors"
    checkpoint.write_bytes(spoil(checkpoint.read_bytes()))
    steps = []
    again = run(tmp_path / "spoiled", lambda done, total, **numbers: steps.append(done))
    whole = run(tmp_path / "whole", lambda done, total, **numbers: None)
    assert steps[0] == 1
    assert same_weights(again[0], whole[0])
    assert again[1] == whole[1]


def test_a_kill_while_weights_are_written_leaves_nothing_in_the_end(encoder, tagged, tmp_path, monkeypatch):
    def killed(tensors, path, metadata):
        Path(path).write_bytes(b"half")
        raise StoppedError

    def run():
        tagger = a_tagger(encoder)
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, checkpoint_seconds=math.inf)

    for name in ("checkpoint", "best", "last"):  # what earlier kills have left
        (tmp_path / f"{name}.draft").write_bytes(b"half")
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr("babelscope.tuning.checkpoint.save_file", killed)
        run()
    assert list(tmp_path.glob("*.draft"))
    run()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best.safetensors", "last.safetensors"]


def test_the_checkpoint_goes_last(encoder, tagged, tmp_path, monkeypatch):
    seen = []

    def watch(path, missing_ok=False):
        seen.append((path.name, sorted(other.name for other in tmp_path.iterdir())))
        unlink(path, missing_ok=missing_ok)

    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", watch)
    tagger = a_tagger(encoder)
    tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, checkpoint_seconds=0.0)
    assert seen[-1] == ("checkpoint.safetensors", ["best.safetensors", "checkpoint.safetensors", "last.safetensors"])


def test_tied_weights_stay_tied_through_a_checkpoint(encoder, sentences, tmp_path):
    model = apply(encoder, "reinit", 0).model
    task = MaskedLanguageModelling(encoder.tokenizer, sentences, 24)
    with pytest.raises(StoppedError):
        tune(model, task, QUICK, 0, tmp_path, stop_at(3), checkpoint_seconds=0.0)
    tune(model, task, QUICK, 0, tmp_path)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


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
    assert read_weights(tmp_path / "last.safetensors")["weight"].item() < model.weight.item()
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
    tagger = a_tagger(encoder)
    with pytest.raises(InputError, match="training data is empty"):
        tune(tagger, Tagging(tagger, []), QUICK, 0, tmp_path)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_absent_device(encoder, tagged, tmp_path):
    tagger = a_tagger(encoder)
    with pytest.raises(InputError, match="no CUDA device"):
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
    tagger = a_tagger(encoder)
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
