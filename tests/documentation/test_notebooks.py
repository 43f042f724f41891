"""The notebooks in `examples/` run from the first cell to the last, and what they show can be shown."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = list(values_shown(path))
    expected = {
        "first-steps": [
            "Encoder", "Tuned", "DataFrame", "Study", "Result", "list", "ndarray", "DataFrame", "int", "list",
        ],
        "own-idea": ["Encoder", "DataFrame", "Chart"],
    }[path.stem]  # fmt: skip
    assert [type(value).__name__ for value in shown] == expected
    for value in shown:
        assert getattr(value, "_repr_html_", value.__repr__)()
    written = {"first-steps": "first-steps.html", "own-idea": "averaged-layers.svg"}[path.stem]
    assert (tmp_path / written).stat().st_size > 1000


def values_shown(path):
    """What a notebook's kernel does, as far as these need it: the value of a cell's last line is shown."""
    names = {"__name__": "__main__"}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, path, "exec"), names)  # noqa: S102
            if last and (value := eval(compile(ast.Expression(last.value), path, "eval"), names)) is not None:  # noqa: S307
                yield value


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
