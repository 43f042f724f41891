"""The commands of the README and of the tutorial do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from blocks import blocks_of
from processes import in_one_core
from warm_command import warm_command

ROOT = Path(__file__).parents[2]
README, TUTORIAL, STORE = "README.md", "docs/tutorial.md", "babelscope-store"


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of a page's blocks of commands and Python, in order, but those that are marked."""
    return [(block.language, block.text) for block in blocks_of(ROOT / page) if not block.needs]


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    with warm_command(tmp_path_factory.mktemp("warm") / "bin") as folder:
        yield folder


def test_the_blocks_of_the_readme_and_then_those_of_the_tutorial_run(tmp_path, commands):
    """In folders of their own, with one store, so that what both have is computed once."""
    for page in (README, TUTORIAL):
        folder = tmp_path / Path(page).stem
        folder.mkdir()
        if page == TUTORIAL:
            (tmp_path / Path(README).stem / STORE).rename(folder / STORE)
        run_blocks(page, folder, commands)


def run_blocks(page: str, folder: Path, commands: Path) -> None:
    assert {language for language, _ in blocks(page)} == {"sh", "python"}
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    runs = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [commands / "python", "-c"]}
    for language, block in blocks(page):
        answer = subprocess.run(
            [*runs[language], block],
            cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600,
            preexec_fn=in_one_core,
        )  # fmt: skip
        assert answer.returncode == 0, f"{block}\n{answer.stdout}{answer.stderr}"


def test_what_fails_fails_its_block(commands):
    calls = (["babelscope", "list", "tasks"], ["babelscope", "run", "none.yaml"], ["python", "-c", "1 / 0"])
    answers = [
        subprocess.run([commands / name, *arguments], capture_output=True, text=True, timeout=60)
        for name, *arguments in calls
    ]
    assert [answer.returncode for answer in answers] == [0, 2, 1]
    assert "pos" in answers[0].stdout and "none.yaml" in answers[1].stderr and "ZeroDivision" in answers[2].stderr
