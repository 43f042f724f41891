"""The README's commands do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def shell_blocks() -> list[str]:
    """The shell blocks of the README, but those of make."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [block for block in blocks if not re.fullmatch(r"(make \w+[^\n]*\n)+", block)]


def test_the_shell_blocks_of_the_readme_run(tmp_path):
    blocks = shell_blocks()
    assert blocks, "README.md shows no command"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in blocks:
        answer = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert answer.returncode == 0, f"{block}\n{answer.stdout}{answer.stderr}"
