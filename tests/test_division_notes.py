"""Before a study runs, it says which of its splits are parts of another split's file, or of one file, and how."""

from __future__ import annotations

from pathlib import Path

import pytest

from babelscope.core.tasks import task_of
from babelscope.corpora.conllu import write_conllu
from babelscope.corpora.datasets import FileData, find_file
from babelscope.face.notes import notes
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study
from babelscope.world import World
from command_line import declaration, transfer


def said(encoder_folder: Path, name: str) -> list[str]:
    tasks = {"pos": transfer(train=[name], evaluate=["world:qaa"], baselines=[])}
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, tasks=tasks)
    return notes(compile_study(Study.model_validate(declared)).steps.values())


def test_a_dev_file_that_is_trained_on_is_told(tmp_path, monkeypatch, encoder_folder):
    monkeypatch.setenv("BABELSCOPE_DATA", str(tmp_path))
    folder = tmp_path / "ud" / "UD_French-Harbour"
    folder.mkdir(parents=True)
    write_conllu(folder / "fr_harbour-ud-dev.conllu", World().treebank("qaa", "dev", 40))
    assert said(encoder_folder, "UD_French-Harbour") == [
        "UD_French-Harbour: it has no train file, so that its dev file is divided: its last tenth is `dev`, and what "
        "comes before is `train`"
    ]
    write_conllu(folder / "fr_harbour-ud-train.conllu", World().treebank("qaa", "train", 40))
    assert said(encoder_folder, "UD_French-Harbour") == []


def test_a_train_file_that_is_selected_on_is_told(tmp_path, encoder_folder):
    """Such as where the dev file has another name."""
    for name, split in (("mt-train", "train"), ("mt-valid", "dev")):
        write_conllu(tmp_path / f"{name}.conllu", World().treebank("qaa", split, 40))
    (line,) = said(encoder_folder, f"treebank:mt:{tmp_path}")
    assert line.startswith(f"treebank:mt:{tmp_path}: it has no dev file, so that its train file is divided: its last")
    (tmp_path / "mt-valid.conllu").rename(tmp_path / "mt-dev.conllu")
    assert said(encoder_folder, f"treebank:mt:{tmp_path}") == []


@pytest.mark.parametrize(
    ("name", "whole", "told"),
    [
        ("wikipedia:nl", False, "one file, whose articles are dealt out: of every ten the first eight to train on"),
        ("text:nl:a.txt", False, "one file, divided in its order: eight tenths to train on"),
        ("UD_Dutch-Alpino:tenths-8-1-1", False, ""),
        ("UD_Dutch-Alpino", False, "it has no train file, so that its dev file is divided"),
        ("UD_Dutch-Alpino", True, "it has no train file, so that its dev file is `train`"),
        ("xnli:nl", False, "it has no dev file, so that its train file is divided"),
        ("xnli:nl", True, ""),
    ],
)
def test_it_is_said_how_splits_are_parts(name, whole, told):
    divided = name in ("UD_Dutch-Alpino", "xnli:nl")
    data = FileData(
        task=task_of("mlm"), name=name, language="nl", split="train", sha256="0", divided=divided, whole=whole
    )
    assert data.division.startswith(told) and bool(data.division) == bool(told)


def test_the_file_that_is_read_is_known(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    assert find_file("mlm", f"text:nl:{tmp_path / 'a.txt'}", "dev").path == tmp_path / "a.txt"
