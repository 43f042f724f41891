"""Folders of exported models: a damaged one is refused, and reading one back draws nothing."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from babelscope.core.errors import InputError
from babelscope.core.examples import UPOS
from babelscope.tasks.export import load_model, save_model
from exported import made


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda folder: (folder / "babelscope.json").unlink(), "babelscope export wrote"),
        (lambda folder: (folder / "babelscope.json").write_text("{}"), "babelscope: Field required"),
        (lambda folder: (folder / "babelscope.json").write_text("["), "babelscope.json: .*JSON"),
        (lambda folder: _set_task(folder, "ner"), "weight .* does not fit"),
        (lambda folder: _set_task(folder, "poetry"), "design.task"),
        (lambda folder: _set(folder, design={}), "design.task"),
        (lambda folder: _set(folder, design={"task": "pos", "dropout": -1}), "design.dropout"),
        (lambda folder: _turn_labels(folder), "id2label of config.json and labels of babelscope.json differ"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"no" * 50_000), "cannot load the encoder"),
    ],
)
def test_a_damaged_folder_is_refused(damage, problem, encoder, tmp_path):
    save_model(made(encoder, "pos"), tmp_path / "model")
    damage(tmp_path / "model")
    with pytest.raises(InputError, match=problem):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("part", ["bert.encoder.layer.1", "classifier"])
def test_weights_that_are_not_numbers_give_no_answers(part, encoder, tmp_path):
    """Neither of the encoder nor of what stands on it; one is enough."""
    folder = tmp_path / "model"
    save_model(made(encoder, "pos"), folder)
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.startswith(part))
    weights[name].view(-1)[0] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=f"{name.removeprefix('bert.')}: 1 of .* weights are NaN or infinite"):
        load_model(folder)


def _set(folder, **changes):
    record = json.loads((folder / "babelscope.json").read_text())
    (folder / "babelscope.json").write_text(json.dumps(record | changes))


def _turn_labels(folder):
    config = json.loads((folder / "config.json").read_text())
    labels = list(reversed(config["id2label"].values()))
    named = {"id2label": dict(enumerate(labels)), "label2id": {label: place for place, label in enumerate(labels)}}
    (folder / "config.json").write_text(json.dumps(config | named))


def _set_task(folder, task):
    design = json.loads((folder / "babelscope.json").read_text())["design"]
    _set(folder, design=design | {"task": task})


def test_reading_a_model_back_draws_nothing(encoder, tmp_path):
    save_model(made(encoder, "pos"), tmp_path / "model")
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    assert load_model(tmp_path / "model").module.labels == UPOS
    assert torch.equal(torch.rand(2), expected)
