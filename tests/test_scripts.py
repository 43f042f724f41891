"""Benchmarks and tools are run by people, not by tests; what they import must be there."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("tools/*.py")])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.parent.name}/{script.name}")
def test_what_a_script_imports_is_there(script: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(script.read_text())) if isinstance(node, ast.ImportFrom)]
    for node in imports:
        if node.module and node.module.split(".")[0] == "babelscope":
            for name in node.names:
                assert _is_there(node.module, name.name), f"{node.module} has no {name.name}"


def _is_there(module: str, name: str) -> bool:
    loaded = import_module(module)
    return hasattr(loaded, name) or Path(loaded.__file__ or "").with_name(f"{name}.py").is_file()
