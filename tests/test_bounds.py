"""Small files that would become far more than they are, in memory or in time, are refused in words."""

from __future__ import annotations

import json
import lzma
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import parquet
from safetensors.torch import save_file

from babelscope.core.errors import DataError, EncoderError
from babelscope.corpora import wikipedia
from babelscope.corpora.wikipedia import read_wikipedia
from babelscope.encoders.load import Encoder, save_encoder
from babelscope.encoders.packed import FORMAT, pack, unpack
from babelscope.engine.sharing import archive

SENTENCE = "A short one. "


def test_a_wikipedia_of_one_text_a_thousand_times_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wikipedia, "UNPACKED", 10_000, raising=False)
    path = tmp_path / "a.parquet"
    indices = pyarrow.array([0] * 100_000, pyarrow.int32())
    texts = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([SENTENCE * 10]))
    parquet.write_table(pyarrow.table({"text": texts}), path)
    assert len(read_wikipedia(path, "train", 5)) == 5
    with pytest.raises(DataError, match=r"a\.parquet: becomes more than 100 times as large .* get the file again"):
        read_wikipedia(path, "train")
    parquet.write_table(pyarrow.table({"text": texts[:90]}), path)
    assert len(read_wikipedia(path, "dev")) == 9 * 10


def test_texts_of_a_packed_model_that_repeat_themselves_without_end_are_refused(tmp_path: Path):
    texts = np.frombuffer(lzma.compress(json.dumps({"a.md": "x" * 5_000_000}).encode()), dtype=np.uint8)
    save_file({"files": torch.from_numpy(texts.copy())}, tmp_path / "packed", {"format": FORMAT})
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=r"packed: damaged \(its texts do not end within 4,194,304 bytes"):
        unpack(tmp_path / "packed", tmp_path / "folder")


def test_a_model_whose_texts_would_not_be_unpacked_is_not_packed(encoder: Encoder, tmp_path: Path):
    save_encoder(encoder, tmp_path / "model")
    (tmp_path / "model" / "README.md").write_text("x" * 5_000_000)
    with pytest.raises(EncoderError, match=r"its texts are 5,\d+,\d+ bytes, of which 4,194,304 would be unp"):
        pack(tmp_path / "model", tmp_path / "packed")


def test_places_of_encoders_are_set_without_a_copy_of_all_that_is_described():
    encoder = {"name": "mine", "content": "0", "place": "mine"}
    other, odd = encoder | {"name": "other"}, encoder | {"name": ["mine"]}
    described = [{"fields": {"encoders": [encoder, {"of": other}, odd], "x": [{"y": [k]} for k in range(20_000)]}}]
    expected = [{"fields": {"encoders": [encoder | {"place": "/here"}, {"of": {**other}}, {**odd}]}}]
    expected[0]["fields"]["x"] = [{"y": [k]} for k in range(20_000)]
    tracemalloc.start()
    archive._place(described, {"mine": Path("/here")})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert described == expected and peak < 1_000_000
