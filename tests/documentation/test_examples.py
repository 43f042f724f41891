"""The studies in `examples/`: the smallest of each kind, planned and run with few examples, and reported on."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

import babelscope as bs

pytestmark = pytest.mark.usefixtures("in_process")

EXAMPLES = Path(__file__).parents[2] / "examples"
STUDIES = sorted(EXAMPLES.glob("*.yaml"))
TINY = {"train": 20, "dev": 5, "test": 5}
SHOWS = {
    "zero-shot": {"Baseline", "Tune", "Evaluate"},
    "surgery": {"Tune", "Evaluate"},
    "schedules": {"Tune", "Evaluate"},
    "similarity": {"Tune", "Evaluate", "SentenceSimilarity"},
    "interpolation": {"Tune", "Evaluate", "Surface"},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """Shared: what two examples have in common is computed once."""
    return tmp_path_factory.mktemp("examples") / "store"


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_an_example_runs_and_has_a_report(path, store, tmp_path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 16
    declared = bs.read_study(path)
    assert declared.name == path.stem
    sizes = {f"tasks.{task}.sizes": TINY for task in declared.tasks}
    study = bs.read_study(path, {"seeds": [0], **sizes})
    assert {type(step).__name__ for step in study.plan(store).plan.steps.values()} == SHOWS[path.stem]
    result = study.run(store, jobs=1)
    assert {row.split for row in result} >= {"dev", "test"}
    (page,) = result.report(tmp_path / "report.html")
    assert declared.question in unescape(page.read_text(encoding="utf-8"))


def test_every_kind_has_an_example():
    assert {path.stem for path in STUDIES} == set(SHOWS)
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"]({path.name})" in page for path in EXAMPLES.iterdir() if path.suffix in (".yaml", ".ipynb"))
