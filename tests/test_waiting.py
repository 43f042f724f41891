"""What the training loop waits for on an accelerator, looked at on a processor, where its order of work is the same."""

import threading
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from babelscope.core.errors import DivergedError
from babelscope.encoders.masks import masks_unread
from babelscope.encoders.on_device import KeptBatches
from babelscope.encoders.pieces import Batch, Pieces
from babelscope.tasks.parse import Parsing
from babelscope.tasks.tag import TagBatch, Tagging
from babelscope.tuning import losses
from babelscope.tuning.ahead import AHEAD, made_ahead
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.descent import Descent
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from every_task import bilstm_tasks, tasks
from taggers import FAMILIES, a_tagger, family_encoder, same_weights

STEPS = Tuning(learning_rate=3e-3, steps=20, tokens_per_batch=128, validate_every=10)


# --- losses


def run(encoder, tagged, folder):
    torch.manual_seed(0)
    tagger = a_tagger(encoder, encoder_dropout=0.1)
    return tagger, tune(tagger, Tagging(tagger, tagged, {"dev": tagged[:4]}), STEPS, 1, folder)


def test_losses_that_wait_change_no_bit(encoder, tagged, tmp_path, monkeypatch):
    at_once, curve = run(encoder, tagged, tmp_path / "at-once")
    monkeypatch.setitem(losses.STEPS_UNREAD, "cpu", 7)
    waited, same_curve = run(encoder, tagged, tmp_path / "waited")
    assert curve == same_curve
    assert [point.step for point in curve.points if point.split == "train"] == list(range(1, 21))
    assert same_weights(module_weights(at_once), module_weights(waited))


class BreaksAt(Tagging):
    """Tagging whose loss is NaN from a step on."""

    made: list[int]
    bad_step: int

    def loss(self, model, batch):
        self.made.append(len(self.made) + 1)
        return super().loss(model, batch) * (float("nan") if len(self.made) >= self.bad_step else 1.0)


@pytest.mark.parametrize(("unread", "bad_step", "made"), [(7, 3, 7), (7, 8, 10), (100, 12, 20), (1, 5, 5)])
def test_a_nan_that_waits_names_the_step_that_made_it(encoder, tagged, tmp_path, monkeypatch, unread, bad_step, made):
    """It is found with the next losses that are read, at the latest before the model is validated."""
    monkeypatch.setitem(losses.STEPS_UNREAD, "cpu", unread)
    tagger = a_tagger(encoder)
    task = BreaksAt(tagger, tagged)
    vars(task).update(made=[], bad_step=bad_step)
    with pytest.raises(DivergedError, match=f"became nan at step {bad_step},"):
        tune(tagger, task, STEPS, 1, tmp_path)
    assert len(task.made) == made


# --- steps


class Readings(TorchDispatchMode):
    """Notes operations whose result is a number of Python's, or of a size that the values decide."""

    def __init__(self, noted):
        super().__init__()
        self.noted = noted

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        aten = torch.ops.aten
        masks = args[1] if function == aten.index.Tensor else ()
        by_mask = any(place is not None and place.dtype == torch.bool for place in masks)
        if by_mask or function in (aten._local_scalar_dense.default, aten.nonzero.default):
            self.noted.append(function)
        return function(*args, **(kwargs or {}))


def test_no_step_waits_for_what_it_computes(encoder, tagged, sentences, tmp_path, monkeypatch):
    noted, step = [], Descent.step

    def watched(*given):
        with Readings(noted):
            return step(*given)

    monkeypatch.setattr(Descent, "step", watched)
    for place, (model, task) in enumerate(tasks(encoder, tagged, sentences)):
        tune(model, task, Tuning(steps=3, bias_correction=False), 1, tmp_path / str(place))
        assert not noted, type(task)


def test_no_family_looks_at_a_mask(tokenizer, monkeypatch):
    """Whether it hides something, as transformers does before it makes one of its own."""
    looked, truth = [], Tensor.__bool__
    monkeypatch.setattr(Tensor, "__bool__", lambda tensor: (looked.append(tensor.shape), truth(tensor))[1])
    ids = torch.full((2, 5), 7)
    mask = torch.arange(5) < torch.tensor([[5], [3]])
    for family in FAMILIES:
        backbone = family_encoder(family, tokenizer).backbone
        looked.clear()
        with masks_unread(), torch.no_grad():
            backbone(input_ids=ids, attention_mask=mask)
        assert not looked, family


def test_readings_are_noted():
    with Readings(noted := []):
        float(torch.ones(1))
        torch.ones(3)[torch.ones(3, dtype=torch.bool)]
    assert len(noted) == 2


# --- validations


def test_a_dev_set_is_made_into_batches_once(encoder, tagged, sentences, monkeypatch):
    made, batch = [], Pieces.batch
    monkeypatch.setattr(Pieces, "batch", lambda *given: (made.append(given), batch(*given))[1])
    for model, task in [*tasks(encoder, tagged, sentences), *bilstm_tasks(tagged)]:
        made.clear()
        first = task.evaluate(model)
        assert len(made) > len(first) == 2, type(task)
        made.clear()
        assert task.evaluate(model) == first and not made, type(task)


def test_a_validation_waits_once_for_all_of_its_batches(encoder, tagged, sentences, monkeypatch):
    """But for trees, which are decoded on the processor, batch by batch."""
    waits, cpu = [], Tensor.cpu
    monkeypatch.setattr(Tensor, "cpu", lambda tensor: (waits.append(tensor), cpu(tensor))[1])
    for model, task in tasks(encoder, tagged, sentences):
        if not isinstance(task, Parsing):
            task.evaluate(model)
            waits.clear()
            with masks_unread(), Readings(noted := []):
                task.evaluate(model)
            assert not noted and len(waits) == 2, type(task)


def test_batches_stay_where_they_are_read():
    """Made once for a device, and moved there: tensors and what holds them, and nothing else."""
    pieces, numbers, made = Pieces.of([[1, 2, 3], [4], [5, 6]], 0), np.arange(2), []
    kept = KeptBatches(
        lambda device: (
            made.append(device.type),
            [(numbers, pieces.batch(numbers)), (numbers, pieces.batch(numbers[:1]))],
        )[1]
    )
    here = kept.on(torch.device("cpu"))
    assert kept.on(torch.device("cpu")) is here
    there = kept.on(torch.device("meta"))
    assert kept.on(torch.device("meta")) is there and made == ["cpu", "meta"]
    for (indices, batch), (_, other) in zip(there, here, strict=True):
        assert indices is numbers and type(batch) is Batch
        assert batch.ids.is_meta and batch.real.is_meta and batch.types is None and batch.padded == other.padded


# --- batches


class Nested(NamedTuple):
    inner: Batch
    numbers: Tensor
    name: str
    nothing: Tensor | None = None


def test_batches_made_ahead_are_those_made_when_wanted(monkeypatch):
    """In their order, on a thread of their own, a few before they are wanted, tensors alone pinned and moved."""
    pinned, moved, threads, made = [], [], set(), []
    monkeypatch.setattr(Tensor, "pin_memory", lambda tensor: (pinned.append(tensor), tensor)[1])
    monkeypatch.setattr(Tensor, "to", lambda tensor, device, non_blocking: (moved.append(device), tensor)[1])
    pieces = Pieces.of([[1, 2, 3], [4], [5, 6]], 0)

    def make(number):
        threads.add(threading.current_thread())
        made.append(number)
        return Nested(pieces.batch(np.arange(number % 3 + 1)), torch.arange(number), f"batch {number}")

    for number, (wanted, batch) in enumerate(made_ahead(iter(range(9)), make, "cuda")):
        assert wanted == number and batch.name == f"batch {number}" and batch.nothing is None
        assert len(made) <= number + AHEAD + 1
        assert torch.equal(batch.numbers, torch.arange(number))
        expected = pieces.batch(np.arange(number % 3 + 1))
        assert torch.equal(batch.inner.ids, expected.ids) and batch.inner.padded == expected.padded
    assert number == 8 and threading.current_thread() not in threads and len(threads) == 1
    assert len(pinned) == 3 * 9 and moved == ["cuda"] * 27


def test_a_batch_that_cannot_be_made_is_an_error_where_it_is_wanted(monkeypatch):
    def make(number):
        if number == 3:
            raise ValueError("no such example")
        return torch.zeros(1)

    monkeypatch.setattr(Tensor, "to", lambda tensor, device, non_blocking: tensor)
    seen = []
    with pytest.raises(ValueError, match="no such example"):
        seen += (wanted for wanted, _ in made_ahead(range(9), make, "mps"))
    assert seen == [0, 1, 2]


def test_what_is_padded_is_known_where_a_batch_is_made():
    pieces = Pieces.of([[1, 2, 3], [4], [5, 6, 7]], 0)
    padded, whole = pieces.batch(np.array([0, 1])), pieces.batch(np.array([0, 2]))
    assert padded.padded and not whole.padded
    assert padded.attention_mask is padded.real and whole.attention_mask is None
    assert padded.unmasked().attention_mask is None and bool(padded.unmasked().real.all())
    assert TagBatch(whole, torch.zeros(0), torch.zeros(0)).batch.to(torch.device("cpu")).attention_mask is None
