"""What a shell completes. A key must answer at once, so nothing is imported that studies are made of."""

from __future__ import annotations

import ast
from importlib.resources import files


def study_names(begun: str) -> list[str]:
    """The built-in studies, NAME and NAME@PROFILE, that begin so: their files are read, and not executed."""
    modules = [file for file in (files("babelscope") / "studies").iterdir() if file.name.endswith(".py")]
    profiles = {module.name[:-3].replace("_", "-"): _profiles(module.read_text(encoding="utf-8")) for module in modules}
    names = (choice for name, own in profiles.items() if own for choice in (name, *(f"{name}@{each}" for each in own)))
    return sorted(name for name in names if name.startswith(begun))


def _profiles(module: str) -> list[str]:
    """The keys of the dictionary `PROFILES` in the text of a module; none where it has no such dictionary."""
    return [
        ast.literal_eval(key)
        for line in ast.parse(module).body
        if isinstance(line, ast.Assign)
        and ast.unparse(line.targets[0]) == "PROFILES"
        and isinstance(line.value, ast.Dict)
        for key in line.value.keys
        if key
    ]
