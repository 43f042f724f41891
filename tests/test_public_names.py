"""The public names of `import babelscope`: light to import, documented and typed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import babelscope as bs


def test_the_package_is_imported_without_heavy_libraries():
    code = "import babelscope, sys\n"
    code += "heavy = {'torch', 'transformers', 'pandas', 'numpy', 'pydantic', 'altair'} & set(sys.modules)\n"
    code += "assert not heavy, heavy\n"
    code += "babelscope.load, babelscope.Study, babelscope.errors, babelscope.surgery\n"
    code += "assert not {'torch', 'transformers', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there_for_people_and_for_type_checkers():
    assert set(bs.__all__) <= set(dir(bs))
    assert all(getattr(bs, name) is not None for name in bs.__all__)
    tree = ast.parse(Path(bs.__file__).read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If)]
    typed = {alias.name for node in ast.walk(guarded[0]) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed | {"__version__"} == set(bs.__all__)
    assert (Path(bs.__file__).parent / "py.typed").exists()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = bs.nonsense


@pytest.mark.parametrize("name", ["Encoder", "Job", "Result", "Rows", "Study", "Tuned"])
def test_public_methods_are_documented_and_typed(name):
    kind = getattr(bs, name)
    for key, value in vars(kind).items():
        function = value.fget if isinstance(value, property) else value
        if key.startswith("_") or not callable(function) or (name == "Job" and key in kind._fields):
            continue
        assert function.__doc__, f"{name}.{key}"
        if hasattr(function, "__annotations__") and not isinstance(function, type):
            assert "return" in function.__annotations__, f"{name}.{key}"
