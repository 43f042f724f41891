"""Checkpoints: a resumed run ends with the bits of an uninterrupted one; a damaged checkpoint counts as none."""

import math
from pathlib import Path

import pytest

from babelscope.core.errors import InputError
from babelscope.encoders.shape import Shape, new_encoder
from babelscope.surgery import apply
from babelscope.tasks.mlm import MaskedLanguageModelling
from babelscope.tasks.tag import Tagging
from babelscope.tuning.checkpoint import module_weights, read_weights
from babelscope.tuning.language import learn_language
from babelscope.tuning.loop import tune
from babelscope.tuning.settings import Tuning
from taggers import StoppedError, a_tagger, same_weights, stop_at

QUICK = Tuning(learning_rate=3e-3, epochs=2, tokens_per_batch=128)

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
        tagger = a_tagger(encoder, encoder_dropout=0.1)
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
        tagger = a_tagger(encoder, encoder_dropout=0.1)
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
        tagger = a_tagger(encoder, encoder_dropout=0.1)
        tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, checkpoint_seconds=math.inf)

    for name in ("checkpoint", "best", "last"):  # what earlier kills have left
        (tmp_path / f"{name}.draft").write_bytes(b"half")
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr("babelscope.encoders.written.save_file", killed)
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
    tagger = a_tagger(encoder, encoder_dropout=0.1)
    tune(tagger, Tagging(tagger, tagged), QUICK, 0, tmp_path, checkpoint_seconds=0.0)
    assert seen[-1] == ("checkpoint.safetensors", ["best.safetensors", "checkpoint.safetensors", "last.safetensors"])


def test_tied_weights_stay_tied_through_a_checkpoint(encoder, sentences, tmp_path):
    model = apply(encoder, "reinit", 0).model
    task = MaskedLanguageModelling(encoder.tokenizer, sentences, 24)
    with pytest.raises(StoppedError):
        tune(model, task, QUICK, 0, tmp_path, stop_at(3), checkpoint_seconds=0.0)
    tune(model, task, QUICK, 0, tmp_path)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
