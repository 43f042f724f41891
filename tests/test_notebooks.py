"""The notebooks in `examples/` run from the first cell to the last, and what they show can be shown."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from processes import in_one_core

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))

RUN = """
import ast, json, sys
names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, sys.argv[1], "exec"), names)
        if last:
            value = eval(compile(ast.Expression(last.value), sys.argv[1], "eval"), names)
            show = getattr(value, "_repr_html_", None)
            print("shown:", type(value).__name__, len(show()) if show else repr(value))
"""
"""What a notebook's kernel does, as far as these need it: the value of a cell's last line is shown."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    answer = subprocess.run(
        [sys.executable, "-c", RUN, path], cwd=tmp_path, capture_output=True, text=True, timeout=600,
        preexec_fn=in_one_core,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    shown = [line.split()[1] for line in answer.stdout.splitlines() if line.startswith("shown: ")]
    expected = {
        "first-steps": [
            "Encoder", "Tuned", "DataFrame", "Study", "Result", "list", "ndarray", "DataFrame", "int", "list",
        ],
        "own-idea": ["Encoder", "DataFrame", "Chart"],
    }[path.stem]  # fmt: skip
    assert shown == expected
    written = {"first-steps": "first-steps.html", "own-idea": "averaged-layers.svg"}[path.stem]
    assert (tmp_path / written).stat().st_size > 1000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
