"""Names with brackets are printed as they are: they are no markup of the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.row import Row
from babelscope.engine.store import Store
from command_line import babelscope

KEY = "ab" * 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Its path has what would end a tag that nothing has begun."""
    path = tmp_path / "[" / "]"
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize("name", ["[bold]x.txt", "[x", "[x].txt"])
def test_a_file_that_is_written(folder: Path, name: str) -> None:
    (folder / "text.txt").write_text("привет\n", encoding="utf-8")
    answer = babelscope("transliterate", folder / "text.txt", "--by", "cyrillic", "-o", folder / name)
    assert (answer.status, answer.output) == (0, f"1 of 1 line changed: {folder / name}\n")


def test_results_that_are_damaged_and_what_is_none(folder: Path) -> None:
    store = Store(folder / "store")
    store.prepare()
    store.write_rows(KEY, [Row("loss", 0.5)])
    store.publish(KEY, {"step": "Toy", "seconds": 1.0})
    (store.place_of(KEY) / "rows.jsonl").write_text("", encoding="utf-8")
    (store.folder / "results" / "[red]" / "[bold]").mkdir(parents=True)
    answer = babelscope("store", "verify", "--store", store.folder)
    assert answer.status == 1 and answer.output == "0 of 1 results are as they were published\n"
    assert f"damaged {store.place_of(KEY)}" in answer.errors
    assert "stray results/[red]/[bold]: no result" in answer.errors
    assert "results/[red]/[bold]" in babelscope("store", "gc", "--store", store.folder).output
