"""What a plan is expected to store of encoders in folders, and how often its trainings read their dev sets."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from babelscope.engine.forecast import bytes_of
from babelscope.engine.work import work_of
from babelscope.steps import Load, Tune
from babelscope.steps.duration import PIECES_A_WORD, duration_of
from babelscope.tuning.batches import Order
from babelscope.tuning.settings import Tuning
from test_prediction import compiled, of_kind


def stored_of(folder: Path) -> int | None:
    """What a tuning of the encoder in a folder is expected to store."""
    encoder = Load(name="tiny", content=str(folder), place=str(folder))
    return bytes_of(Tune(encoder=encoder, task="pos", train=(), dev=(), tuning=Tuning(), seed=0))


@pytest.fixture
def folder(encoder_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(encoder_folder, tmp_path / "encoder"))


def weights_in(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def in_float32(folder: Path) -> int:
    return 4 * sum(weight.numel() for weight in weights_in(folder).values())


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_count_as_they_will_be_stored(folder, precision):
    """Trained ones are float32, also those of an encoder that was saved in 16 bits."""
    expected, weights = in_float32(folder), weights_in(folder)
    save_file({name: weight.to(precision) for name, weight in weights.items()}, folder / "model.safetensors")
    assert stored_of(folder) == expected


def test_weights_in_two_formats_side_by_side_count_once(folder):
    expected, weights = in_float32(folder), weights_in(folder)
    save_file({name: weight.half() for name, weight in weights.items()}, folder / "model.fp16.safetensors")
    torch.save(weights, folder / "pytorch_model.bin")
    assert stored_of(folder) == expected


def test_parts_in_a_folder_inside_count(folder):
    expected, weights = in_float32(folder), weights_in(folder)
    (folder / "model.safetensors").unlink()
    (folder / "parts").mkdir()
    places = {name: f"parts/{number % 2}.safetensors" for number, name in enumerate(weights)}
    for place in set(places.values()):
        save_file({name: weight for name, weight in weights.items() if places[name] == place}, folder / place)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}), encoding="utf-8")
    assert stored_of(folder) == expected


def test_weights_that_cannot_be_read_are_not_known(folder):
    (folder / "model.safetensors").write_bytes(bytes(1000))
    assert stored_of(folder) is None


@pytest.mark.parametrize("duration", [{"epochs": 3}, {"steps": 12}, {"steps": 13}, {"steps": 3}])
@pytest.mark.parametrize(
    "rhythm", [{}, {"validations_per_epoch": 2}, {"validations_per_epoch": 9}, {"validate_every": 5}]
)
def test_dev_sets_are_read_as_often_as_the_loop_does(encoder_folder, duration, rhythm):
    sizes, tuning = {"train": 30, "dev": 10, "test": 1}, {"examples_per_batch": 8} | duration | rhythm
    tune = of_kind(compiled(encoder_folder, sizes=sizes, tuning=tuning), Tune)[0]
    turns = list(Order(np.full(30, 5), tune.tuning, 0).turns())
    times = sum(step == len(turns) or turn.is_validated(step, tune.tuning) for step, turn in enumerate(turns, 1))
    dev = sum(len(sentence.words) * PIECES_A_WORD + 2 for sentence in tune.dev[0].read())
    read = work_of(tune).tokens - work_of(tune.model_copy(update={"dev": ()})).tokens
    assert read == pytest.approx(times * dev)


def test_as_many_steps_as_epochs_have_take_as_long(encoder_folder):
    """Also where batches are of so many tokens."""
    sizes = {"train": 60, "dev": 20, "test": 1}
    epochs = of_kind(compiled(encoder_folder, sizes=sizes, tuning={"epochs": 7, "tokens_per_batch": 50}), Tune)[0]
    given = {"steps": duration_of(epochs).steps, "tokens_per_batch": 50}
    steps = of_kind(compiled(encoder_folder, sizes=sizes, tuning=given), Tune)[0]
    assert work_of(steps).tokens == pytest.approx(work_of(epochs).tokens, rel=0.1)
