"""A small study and the store that it is computed in, once a process, beside the encoder: tests only read them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from command_line import babelscope, declaration, transfer, write_study


@cache
def small_study(encoder_folder: Path) -> Path:
    folder = encoder_folder.parents[1] / "small-study"
    folder.mkdir()
    tasks = {"pos": transfer(evaluate=["world:qab"])}
    declared = declaration(encoder_folder, tasks=tasks, seeds=[0], retrieval=None, surgeries=[None])
    return write_study(folder / "tiny.yaml", declared)


@cache
def computed(study: Path) -> Path:
    folder = study.parents[1] / "computed-study" / "store"
    assert babelscope("run", study, "--store", folder, "--jobs", 1).status == 0
    return folder
