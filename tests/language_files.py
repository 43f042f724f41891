"""Text and labelled sentences of a language of the world, and a request for advice on it."""

from __future__ import annotations

import re
from pathlib import Path

from babelscope.advise.request import Request
from babelscope.corpora.bio import write_bio
from babelscope.corpora.conllu import write_conllu
from babelscope.world import World


def written_to(folder: Path) -> Path:
    world = World()
    (folder / "text.txt").write_text("\n".join(world.text("qah", 60)) + "\n", encoding="utf-8")
    write_conllu(folder / "trees.conllu", world.treebank("qah", "train", 60))
    write_bio(folder / "news.bio", world.entities("qah", "train", 60))
    return folder


def request_on(files: Path, encoder_folder: Path) -> Request:
    return Request(
        language="qah", text=str(files / "text.txt"), labelled=str(files / "trees.conllu"),
        encoders=(str(encoder_folder),), seeds=2, adaptation_steps=2, search=False, curve=False,
    )  # fmt: skip


def tagger_of_the_card(text, folder):
    """What the card's own Python defines, run as if in the folder."""
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    found = {}
    exec(code.replace('model="."', f"model={str(folder)!r}"), found)  # noqa: S102 (our own text)
    return found["tag"]
