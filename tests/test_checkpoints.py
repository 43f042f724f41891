"""Checkpoints: a resumed run ends with the bits of an uninterrupted one, and another run's are refused."""

import hashlib
import json
import math
import shutil
from pathlib import Path

import pytest
import torch

from babelscope.core.errors import OtherRunError
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.surgery import apply
from babelscope.tasks.mlm import MaskedLanguageModelling
from babelscope.tasks.tag import Tagging
from babelscope.tuning.checkpoint import module_weights, read_weights, write_weights
from babelscope.tuning.language import learn_language
from babelscope.tuning.loop import tune
from babelscope.tuning.saving import Saving
from babelscope.tuning.settings import Tuning
from taggers import QUICK, StoppedError, a_tagger, same_weights, stop_at

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
        tagger = a_tagger(encoder, encoder_dropout=0.1)
        task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        settings = Tuning(
            learning_rate=3e-3,
            epochs=2,
            **({} if "examples_per_batch" in tuning else {"tokens_per_batch": 128}),
            **tuning,
        )
        last = {}

        def note(done, total, **numbers):
            if done == total:
                last.update({name: weight.detach().clone() for name, weight in module_weights(tagger).items()})
            progress(done, total, **numbers)

        history = tune(tagger, task, settings, 0, folder, note, checkpoint_seconds=0.0)
        return module_weights(tagger), last, history

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
    assert [path.name for path in (tmp_path / "stopped").iterdir()] == ["best.safetensors"]


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
        tagger = a_tagger(encoder, encoder_dropout=0.1)
        tune(tagger, Tagging(tagger, tagged), tuning, 0, tmp_path, progress, checkpoint_seconds=0.0)

    with pytest.raises(StoppedError):
        run(QUICK, stop_at(2))
    with pytest.raises(OtherRunError, match=r"checkpoint\.safetensors: a checkpoint of another training run"):
        run(QUICK.model_copy(update={"learning_rate": 1e-4}), stop_at(2))


def test_another_models_checkpoint_is_refused(encoder, tagged, tmp_path):
    """Of the same settings, seed and data."""

    def run(model):
        tagger = a_tagger(model)
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, stop_at(2), checkpoint_seconds=0.0)

    with pytest.raises(StoppedError):
        run(encoder)
    with pytest.raises(OtherRunError, match=r"checkpoint\.safetensors: a checkpoint of another training run"):
        run(apply(encoder, "drop:last=1"))


def test_the_checkpoint_of_another_folder_is_refused(encoder, tagged, tmp_path):
    """Of the same settings, seed, lengths and shapes, as when the drafts of two surgeries are exchanged."""

    def run(model, folder, progress):
        tagger = a_tagger(model)
        settings = QUICK.model_copy(update={"validate_every": 1})
        task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        tune(tagger, task, settings, 0, tmp_path / folder, progress, checkpoint_seconds=0.0)

    for folder, model in (("one", encoder), ("another", apply(encoder, "reverse"))):
        with pytest.raises(StoppedError):
            run(model, folder, stop_at(2))
    shutil.copy(tmp_path / "another" / "checkpoint.safetensors", tmp_path / "one")
    with pytest.raises(OtherRunError, match=r"checkpoint\.safetensors: a checkpoint of another training run"):
        run(encoder, "one", stop_at(3))


def test_the_best_weights_of_another_folder_are_not_taken(encoder, tagged, tmp_path):
    """As when those of two drafts are exchanged: the checkpoint does not have them, and they may be newer than it."""

    def run(folder, seed, progress=lambda done, total, **numbers: None):
        tagger = a_tagger(encoder)
        settings = QUICK.model_copy(update={"validate_every": 1})
        task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        tune(tagger, task, settings, seed, tmp_path / folder, progress, checkpoint_seconds=0.0)
        return module_weights(tagger)

    whole = run("whole/draft", 0)
    for folder, seed in (("one/draft", 0), ("another", 1)):
        with pytest.raises(StoppedError):
            run(folder, seed, stop_at(2))
    shutil.copy(tmp_path / "another" / "best.safetensors", tmp_path / "one/draft")
    steps = []
    with pytest.warns(UserWarning, match=r"best\.safetensors: .*another run.s.*begins again"):
        again = run("one/draft", 0, lambda done, total, **numbers: steps.append(done))
    assert steps[0] == 1
    assert same_weights(again, whole)


def test_best_weights_that_are_newer_than_the_checkpoint_are_gone_on_with(encoder, tagged, tmp_path):
    """As a kill leaves them that falls between the two."""

    def run(progress):
        tagger = a_tagger(encoder)
        settings = QUICK.model_copy(update={"validate_every": 1})
        task = Tagging(tagger, tagged[:40], {"qaa": tagged[40:]})
        tune(tagger, task, settings, 0, tmp_path / "draft", progress, checkpoint_seconds=0.0)

    checkpoint, steps = tmp_path / "draft/checkpoint.safetensors", []
    with pytest.raises(StoppedError):
        run(stop_at(2))
    earlier, best = checkpoint.read_bytes(), (tmp_path / "draft/best.safetensors").read_bytes()
    with pytest.raises(StoppedError):
        run(stop_at(4))
    assert (tmp_path / "draft/best.safetensors").read_bytes() != best
    checkpoint.write_bytes(earlier)
    run(lambda done, total, **numbers: steps.append(done))
    assert steps[0] == 3


def test_the_weights_of_a_finished_run_have_the_same_bytes_in_every_folder(encoder, tagged, tmp_path):
    for folder in ("one", "another"):
        tagger = a_tagger(encoder)
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path / folder)
    one, another = (tmp_path / folder / "best.safetensors" for folder in ("one", "another"))
    assert one.read_bytes() == another.read_bytes()


def test_the_digest_of_a_file_is_of_names_types_shapes_and_numbers(tmp_path):
    """By plain means, from the file itself."""
    tensors = {"b": torch.arange(6.0).view(2, 3).T, "a": torch.tensor(3, dtype=torch.int16), "c": torch.empty(0, 2)}
    write_weights(tmp_path / "w.safetensors", tensors)
    content = (tmp_path / "w.safetensors").read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    recorded, names = header.pop("__metadata__"), {"F32": "torch.float32", "I16": "torch.int16"}
    told = b"{}"
    for name, about in sorted(header.items()):
        first, last = (start + offset for offset in about["data_offsets"])
        told += json.dumps([name, names[about["dtype"]], about["shape"]]).encode() + content[first:last]
    assert recorded == {"sha256": hashlib.sha256(told).hexdigest()}
    assert all(read_weights(tmp_path / "w.safetensors")[name].equal(tensor) for name, tensor in tensors.items())


def test_a_kill_while_weights_are_written_leaves_nothing_in_the_end(encoder, tagged, tmp_path, monkeypatch):
    def killed(tensors, path, metadata):
        Path(path).write_bytes(b"half")
        raise StoppedError

    def run():
        tagger = a_tagger(encoder, encoder_dropout=0.1)
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, checkpoint_seconds=math.inf)

    for name in ("checkpoint", "best"):  # what earlier kills have left
        (tmp_path / f"{name}.draft").write_bytes(b"half")
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr("babelscope.encoders.written.save_file", killed)
        run()
    assert list(tmp_path.glob("*.draft"))
    run()
    assert [path.name for path in tmp_path.iterdir()] == ["best.safetensors"]


def test_the_checkpoint_goes_last(encoder, tagged, tmp_path, monkeypatch):
    seen = []

    def watch(path, missing_ok=False):
        seen.append((path.name, sorted(other.name for other in tmp_path.iterdir())))
        unlink(path, missing_ok=missing_ok)

    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", watch)
    tagger = a_tagger(encoder, encoder_dropout=0.1)
    tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, checkpoint_seconds=0.0)
    *_, (removed, there), (last, _) = seen
    assert (removed, there) == ("checkpoint.safetensors", ["best.runs", "best.safetensors", "checkpoint.safetensors"])
    assert last == "best.runs"


def test_tied_weights_stay_tied_through_a_checkpoint(encoder, sentences, tmp_path):
    model = apply(encoder, "reinit", 0).model
    task = MaskedLanguageModelling(encoder.tokenizer, sentences, 24)
    with pytest.raises(StoppedError):
        tune(model, task, QUICK, 0, tmp_path, stop_at(3), checkpoint_seconds=0.0)
    tune(model, task, QUICK, 0, tmp_path)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


@pytest.mark.parametrize(
    ("takes", "expected"), [(5.0, [60, 165, 270]), (0.5, [60, 120, 181, 241]), (0.0, range(60, 301, 60))]
)
def test_a_checkpoint_that_takes_long_to_write_is_written_less_often(monkeypatch, takes, expected):
    """A twentieth of the run at most; one of 60 seconds otherwise."""
    now, began = [0.0], []
    monkeypatch.setattr("babelscope.tuning.saving.time.monotonic", lambda: now[0])

    def write():
        began.append(now[0])
        now[0] += takes

    saving = Saving(write, 60.0)
    while now[0] < 300:
        now[0] += 1
        saving.if_due()
    assert [int(each) for each in began] == list(expected)
