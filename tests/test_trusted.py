"""What an encoder's files may not do: have other code run, be read as pickles, say what is no name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from babelscope.core.errors import BabelscopeError, EncoderError
from babelscope.encoders.load import load_encoder
from babelscope.encoders.places import NAME_FILE, locate


@pytest.fixture
def folder(encoder_folder: Path, tmp_path: Path) -> Path:
    """A copy of an encoder, to spoil."""
    return Path(shutil.copytree(encoder_folder, tmp_path / "copy"))


def configured(folder: Path, **settings: str) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | settings), encoding="utf-8")


@pytest.mark.parametrize("chosen", ["somebody/kernel@0123456789abcdef", "flash_attention_2", "flex_attention"])
def test_code_that_config_json_chooses_is_refused(folder: Path, chosen: str) -> None:
    """It can be fetched from the hub."""
    configured(folder, attn_implementation=chosen)
    with pytest.raises(EncoderError, match=rf"config.json chooses attn_implementation '{chosen}', whose code"):
        load_encoder(folder)


@pytest.mark.parametrize("chosen", ["eager", "sdpa"])
def test_attention_of_transformers_itself_can_be_chosen(folder: Path, chosen: str) -> None:
    configured(folder, attn_implementation=chosen)
    assert load_encoder(folder).model.config._attn_implementation == chosen


def test_pickled_weights_that_an_index_names_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a file of safetensors, which made the folder look like one without pickles."""
    weights = load_file(folder / "model.safetensors")
    torch.save(weights, folder / "w.bin")
    (folder / "model.safetensors").unlink()
    save_file({"x": torch.zeros(1)}, folder / "extra.safetensors")
    index = {"metadata": {"total_size": 1}, "weight_map": dict.fromkeys(weights, "w.bin")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("it was unpickled"))
    for read in (locate, load_encoder):
        with pytest.raises(EncoderError, match=r"names weights in w\.bin, which is no"):
            read(str(folder))
    monkeypatch.setattr("babelscope.encoders.load.check_folder", lambda *_: None)  # as of one on the hub
    with pytest.raises(EncoderError, match=r"names weights in w\.bin, which is no"):
        load_encoder(folder)


@pytest.mark.parametrize("name", ["", "x\n\n# Injected", "x\x1b]0;TITLE\x07", "x" * 500])
def test_what_is_no_name_is_refused(folder: Path, name: str) -> None:
    (folder / NAME_FILE).write_text(name, encoding="utf-8")
    with pytest.raises(BabelscopeError, match=r"is no name|more than 400 bytes"):
        locate(str(folder))
