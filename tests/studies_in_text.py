"""The smallest study as text, studies that are loaded from text, and their faults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from babelscope.core.errors import StudyError
from babelscope.study.declare import Study, load_study

MINIMAL = "name: x\nencoders: [e]\ntasks: {pos: {train: ['world:qaa'], evaluate: ['world:qaa']}}\n"


def minimal(more: str) -> str:
    """The smallest study, with more said of its task."""
    return MINIMAL.replace("}}", f", {more}}}}}")


def loading(tmp_path: Path):
    """Loads a study from text, with changes."""

    def load(text: str, **changes: Any) -> Study:
        path = tmp_path / "study.yaml"
        path.write_text(text, encoding="utf-8")
        return load_study(path, changes)

    return load


def faults(load, text: str, **changes: Any) -> tuple[str, ...]:
    with pytest.raises(StudyError) as caught:
        load(text, **changes)
    assert re.match(r"\S+study.yaml: \d+ fault", str(caught.value))
    return caught.value.faults
