"""Which files transformers loads a model from, and what is read of them without their weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, BertConfig, BertModel

from babelscope.encoders.weight_files import weight_files, weight_shapes

CONFIG = BertConfig(
    vocab_size=40, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
    max_position_embeddings=16,
)  # fmt: skip


def whole(folder: Path) -> None:
    """Weights in one file, and beside it another model's, which nothing names."""
    saved(1).save_pretrained(folder)
    saved(2).save_pretrained(folder / "other")
    (folder / "other" / "model.safetensors").rename(folder / "other.safetensors")


def divided(folder: Path) -> None:
    """Weights in several files with an index, and beside them one that it does not name."""
    whole(folder)
    (folder / "model.safetensors").unlink()
    saved(1).save_pretrained(folder, max_shard_size="4KB")


def named(folder: Path) -> None:
    """Weights in a file that config.json names, beside one by the usual name."""
    whole(folder)
    (folder / "model.safetensors").rename(folder / "mine.safetensors")
    (folder / "other.safetensors").rename(folder / "model.safetensors")
    configure(folder, "mine.safetensors")


def named_beside_an_index(folder: Path) -> None:
    """The same, beside an index of another model's files."""
    named(folder)
    (folder / "model.safetensors").unlink()
    saved(2).save_pretrained(folder / "other", max_shard_size="4KB")
    for path in (folder / "other").glob("model*"):
        path.rename(folder / path.name)


def named_by_an_index(folder: Path) -> None:
    """Weights in the files of an index that config.json names, beside one by the usual name."""
    divided(folder)
    (folder / "model.safetensors.index.json").rename(folder / "mine.safetensors.index.json")
    (folder / "other.safetensors").rename(folder / "model.safetensors")
    configure(folder, "mine.safetensors.index.json")


def configure(folder: Path, weights: str) -> None:
    file = folder / "config.json"
    config = json.loads(file.read_text(encoding="utf-8")) | {"transformers_weights": weights}
    file.write_text(json.dumps(config), encoding="utf-8")


def saved(seed: int) -> BertModel:
    torch.manual_seed(seed)
    return BertModel(CONFIG)


@pytest.mark.parametrize(
    ("write", "files_there"),
    [
        (whole, "model.safetensors"), (divided, "model-*"), (named, "mine.safetensors"),
        (named_beside_an_index, "mine.safetensors"), (named_by_an_index, "model-*"),
    ],
)  # fmt: skip
def test_the_files_that_transformers_loads(write: Callable[[Path], None], files_there: str, tmp_path: Path) -> None:
    write(tmp_path)
    loaded = AutoModel.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(weight, saved(1).state_dict()[name]) for name, weight in loaded.items())
    files = weight_files(tmp_path)
    others = [path for path in tmp_path.glob("*.safetensors") if path not in files]
    assert files == sorted(tmp_path.glob(files_there)) and files and others
    for other in others:
        other.unlink()
    if write is named_beside_an_index:
        (tmp_path / "model.safetensors.index.json").unlink()
    again = AutoModel.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(weight, again[name]) for name, weight in loaded.items())
    assert {name: prod(shape) for name, shape in weight_shapes(tmp_path).items()} == {
        name: weight.numel() for name, weight in loaded.items() if "position_ids" not in name
    }
