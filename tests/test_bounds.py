"""Small files that would become far more than they are, in memory or in time, are refused in words."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from babelscope.core.errors import DataError
from babelscope.corpora import wikipedia
from babelscope.corpora.wikipedia import read_wikipedia

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
