"""The commands of the README and of the tutorial do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from blocks import blocks_of
from processes import in_one_core
from warm_command import warm_command

ROOT = Path(__file__).parent.parent
README, TUTORIAL, STORE = "README.md", "docs/tutorial.md", "babelscope-store"


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of a page's blocks of commands and Python, in order, but those that are marked."""
    return [(block.language, block.text) for block in blocks_of(ROOT / page) if not block.needs]


def test_the_blocks_of_the_readme_and_then_those_of_the_tutorial_run(tmp_path):
    """In folders of their own, with one store, so that what both have is computed once."""
    with warm_command(tmp_path / "bin") as command:
        for page in (README, TUTORIAL):
            folder = tmp_path / Path(page).stem
            folder.mkdir()
            if page == TUTORIAL:
                (tmp_path / Path(README).stem / STORE).rename(folder / STORE)
            run_blocks(page, folder, command)


def run_blocks(page: str, folder: Path, command: Path) -> None:
    assert {language for language, _ in blocks(page)} == {"sh", "python"}
    path = os.pathsep.join([str(command.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    runs = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}
    for language, block in blocks(page):
        answer = subprocess.run(
            [*runs[language], block],
            cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600,
            preexec_fn=in_one_core,
        )  # fmt: skip
        assert answer.returncode == 0, f"{block}\n{answer.stdout}{answer.stderr}"


def test_a_command_that_fails_fails_its_block(tmp_path):
    with warm_command(tmp_path / "bin") as command:
        answers = [
            subprocess.run([command, *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=60)
            for arguments in (["list", "tasks"], ["run", "none.yaml"])
        ]
    assert [answer.returncode for answer in answers] == [0, 2]
    assert "pos" in answers[0].stdout and "none.yaml" in answers[1].stderr
