"""A file and its gzip beside each other: one text if they hold the same, and refused if they do not."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from babelscope.core.errors import InputError
from babelscope.core.tasks import task_of
from babelscope.corpora import sources
from babelscope.corpora.data_sources.tables import Tables
from babelscope.corpora.plain import read_text
from babelscope.corpora.translations import translation_files

Read = Callable[[Path], object]

LINES = "".join(f"line {number}\n" for number in range(10))
PLACES: dict[str, tuple[str, str, Read]] = {
    "a treebank": (
        "ud/UD_Maltese-MUDT/mt_mudt-ud-test.conllu",
        "1\tDar\tdar\tNOUN\t_\t_\t0\troot\t_\t_\n\n",
        lambda data: sources.find_treebank("UD_Maltese-MUDT", "test"),
    ),
    "a table": (
        "own/test.tsv",
        "text\tlabel\na\t1\n",
        lambda data: Tables().file(task_of("sst2"), f"tsv:en:{data / 'own'}", "test"),
    ),
    "a folder of text": ("own/a.txt", LINES, lambda data: read_text(f"text:mt:{data / 'own'}", "train")),
    "news": ("ntrex/newstest2019-ref.mlt.txt", LINES, lambda data: read_text("ntrex:mt", "train")),
    "translations": ("parallel/tatoeba/eng-mlt.tsv", "a\tb\n", lambda data: translation_files("tatoeba:mt")),
}


@pytest.fixture(params=PLACES)
def twice(request, tmp_path, monkeypatch) -> tuple[Path, Path, Read]:
    """The data folder, a file in it, and what reads it; the file is there packed, too."""
    name, text, read = PLACES[request.param]
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    plain = tmp_path / name
    plain.parent.mkdir(parents=True)
    plain.write_text(text)
    plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path, plain, read


def test_the_same_content_is_one_text(twice):
    data, plain, read = twice
    both = read(data)
    plain.with_name(f"{plain.name}.gz").unlink()
    assert read(data) == both


def test_other_content_is_refused(twice):
    data, plain, read = twice
    plain.write_text(plain.read_text() * 2)
    with pytest.raises(InputError, match=f"of {plain.name}, {plain.name}.gz one alone can be read, and they differ"):
        read(data)
