"""The code blocks of README and docs: in which language each is, and whether it is run or says what it would need.

A comment `<!-- not run: needs GPU -->` stands before a block that is not run. `python tests/blocks.py` lists those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
GENERATED = ("commands.md", "languages.md", "protocols.md", "studies.md")
"""Pages that the code writes, and whose blocks are no commands."""
NEEDS = {"GPU", "cluster", "hub", "data", "hours", "a browser", "a clone", "another package"}
_MARK = re.compile(r"<!-- not run: needs (.*?) -->")
_SHELL = re.compile(r"(babelscope|pip|python|dask|sbatch|make|export|openssl|PYTHONPATH=\S+|tensorboard)\b")


class Block(NamedTuple):
    """Lines of code on a page."""

    page: str
    line: int
    language: str
    """`sh`, `python`, `yaml`, `toml` or `text`."""
    text: str
    needs: str | None
    """What it would need to be run, if it is not."""

    @property
    def commands(self) -> list[str]:
        """Of a block of shell, the commands, continued lines joined and comments left out."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in joined.splitlines())
        return [line for line in lines if line]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def all_blocks() -> list[Block]:
    """Those of all pages that people write."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [block for page in pages if page.name not in GENERATED for block in blocks_of(page)]


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page in order: fenced, or of lines that are indented by four spaces after an empty one."""
    lines = page.read_text(encoding="utf-8").splitlines()
    place, mark, is_after_empty = 0, None, True
    while place < len(lines):
        start, line = place, lines[place]
        if fence := re.match(r"```(.*)", line):
            place = next(k for k in range(start + 1, len(lines)) if lines[k].startswith("```")) + 1
            if not fence[1].startswith("{"):  # a directive of the documentation
                text = "\n".join(lines[start + 1 : place - 1]) + "\n"
                yield Block(page.name, start + 1, fence[1] or "text", text, mark)
        elif is_after_empty and line.startswith("    "):
            while place < len(lines) and (lines[place].startswith("    ") or not lines[place]):
                place += 1
            text = "\n".join(part[4:] for part in lines[start:place]).rstrip() + "\n"
            yield Block(page.name, start + 1, _language(text), text, mark)
        else:
            place += 1
        if lines[start]:
            mark = found[1] if (found := _MARK.fullmatch(lines[start])) else None
        is_after_empty = not lines[place - 1]


def _language(text: str) -> str:
    if _SHELL.match(text):
        return "sh"
    return "python" if re.match(r"(from|import) ", text) else "yaml" if re.match(r"\w+: ", text) else "text"


if __name__ == "__main__":
    for block in all_blocks():
        if block.needs:
            print(f"{block}: needs {block.needs}: {block.text.splitlines()[0]}")
