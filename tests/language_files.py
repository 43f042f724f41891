"""Text and labelled sentences of a language of the world, and a request for advice on it."""

from __future__ import annotations

from pathlib import Path

from babelscope.advise.request import Request
from babelscope.corpora.conllu import write_conllu
from babelscope.world import World


def written_to(folder: Path) -> Path:
    world = World()
    (folder / "text.txt").write_text("\n".join(world.text("qah", 60)) + "\n", encoding="utf-8")
    write_conllu(folder / "trees.conllu", world.treebank("qah", "train", 60))
    return folder


def request_on(files: Path, encoder_folder: Path) -> Request:
    return Request(
        language="qah", text=str(files / "text.txt"), treebank=str(files / "trees.conllu"),
        encoders=(str(encoder_folder),), seeds=2, adaptation_steps=2, search=False, curve=False,
    )  # fmt: skip
