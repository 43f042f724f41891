"""The built-in studies, one file each: parameters, and for each profile a function that returns a `Study`."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

from babelscope.core.errors import InputError, StudyError
from babelscope.core.row import Row
from babelscope.core.validation import declare, validate
from babelscope.studies import (
    align_then_predict,
    alignment_by_layer,
    all_tasks,
    evolution,
    first_look,
    monolingual_benefits,
    underspecified,
    unseen_languages,
    world_encoders,
)
from babelscope.study.declare import Study, load_study

STUDIES: dict[str, ModuleType] = {
    "first-look": first_look, "all-tasks": all_tasks, "monolingual-benefits": monolingual_benefits,
    "evolution": evolution, "alignment-by-layer": alignment_by_layer, "align-then-predict": align_then_predict,
    "underspecified": underspecified, "unseen-languages": unseen_languages, "world-encoders": world_encoders,
}  # fmt: skip


def find_study(name: str, changes: dict[str, Any]) -> Study:
    """The built-in study NAME[@PROFILE], or the study in a YAML file; `changes` are its parameters or keys.

    Raises:
        InputError: there is no such study or profile.
        DataError, StudyError: the file, the parameters or the declaration are at fault.
    """
    if name.endswith((".yaml", ".yml")) or _is_file(name):
        return load_study(Path(name), changes)
    base, at, profile = name.partition("@")
    if base not in STUDIES:
        raise InputError(f"no study is named {base!r}; there are {', '.join(STUDIES)}, or give a YAML file")
    profiles, profile = STUDIES[base].PROFILES, profile if at else "world"
    if profile not in profiles:
        raise InputError(f"{base} has no profile {profile!r}; there are {', '.join(profiles)}")
    given = validate(STUDIES[base].Parameters, changes, f"{name} --with")
    study = declare(lambda: profiles[profile](given), f"{name} --with", Study)
    if unused := given.unused():
        raise StudyError(f"{name} --with", [f"{key}: {base}@{profile} has no use for it here" for key in unused])
    return study


def published_rows(study: str) -> list[Row]:
    """The published numbers that stand beside a study's own; none for most studies. Files have columns as rows have."""
    table = files("babelscope.studies") / "published" / f"{study.partition('@')[0]}.csv"
    if not table.is_file():
        return []
    lines = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    return [Row(study=study, **{name: _typed(name, text) for name, text in line.items() if text}) for line in lines]


def _typed(column: str, text: str) -> Any:
    return int(text) if column in ("seed", "step", "layer") else float(text) if column == "value" else text


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # longer than a name may be
        return False
