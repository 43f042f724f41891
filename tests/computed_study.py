"""A small study and the store that it is computed in, once a process: tests of several files read them alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from command_line import babelscope, declaration, transfer, write_study


@cache
def small_study(tmp_path_factory: pytest.TempPathFactory, encoder_folder: Path) -> Path:
    tasks = {"pos": transfer(evaluate=["world:qab"])}
    declared = declaration(encoder_folder, tasks=tasks, seeds=[0], retrieval=None, surgeries=[None])
    return write_study(tmp_path_factory.mktemp("study") / "tiny.yaml", declared)


@cache
def computed(tmp_path_factory: pytest.TempPathFactory, study: Path) -> Path:
    folder = tmp_path_factory.mktemp("computed") / "store"
    assert babelscope("run", study, "--store", folder, "--jobs", 1).status == 0
    return folder
