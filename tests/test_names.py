"""Names that stand in tables are none that a spreadsheet would compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from babelscope.core.errors import EncoderError, InputError, StudyError
from babelscope.core.tasks import TASKS
from babelscope.core.validation import validate
from babelscope.corpora.datasets import find
from babelscope.corpora.parallel import find_named_pairs, find_pairs
from babelscope.encoders.load import Encoder, save_encoder
from babelscope.encoders.places import NAME_FILE, display_name, locate
from babelscope.study.declare import Study
from command_line import declaration, transfer

MARKS = ["=1+2", "+x", "-x", "@SUM(1)", " =x", "\t=x"]
PROBLEM = "should not begin with [-=+@], as formulas of spreadsheets do; begin with a letter or a digit"


def faults(**changes: Any) -> str:
    with pytest.raises(StudyError) as caught:
        validate(Study, declaration(Path("here")) | changes, "study x")
    return str(caught.value)


def made(name: str) -> dict[str, Any]:
    return {"name": name, "encoder": "world-natural", "texts": ["world:qaa"], "tuning": {"epochs": 1}}


@pytest.mark.parametrize("name", MARKS)
def test_no_name_in_a_study_begins_as_formulas_do(name: str):
    for path, changes in (
        ("surgeries.0.name", {"surgeries": [{"name": name, "operations": ["reverse"]}]}),
        ("encoders.0.name", {"encoders": [made(name)]}),
        (f"tasks.{name}", {"tasks": {name: transfer(task="pos")}}),
    ):
        told = faults(**changes)
        assert f"{path}: should not begin with {name.strip()[0]}, as formulas of spreadsheets do" in told, told


def test_what_has_such_a_sign_further_on_is_a_name():
    changes = {
        "surgeries": [None, {"name": "drop 1-2", "operations": ["reverse"]}],
        "encoders": ["world-natural", made("a+b")], "tasks": {"pos@x": transfer(task="pos")}, "name": "a-b.c@d",
    }  # fmt: skip
    assert validate(Study, declaration(Path("here")) | changes, "study x").name == "a-b.c@d"


@pytest.mark.parametrize("name", [".", "..", "...", "a@.", "..@a"])
def test_a_study_is_not_called_by_dots_alone(name: str):
    assert "name: should not be of dots alone, which are folders' names" in faults(name=name)


def test_a_study_does_not_begin_as_options_do():
    assert "name: should not begin with -, as formulas" in faults(name="-x")


def test_no_name_of_an_encoder_begins_so(encoder: Encoder, tmp_path: Path):
    folder = tmp_path / "@models" / "mine"
    save_encoder(encoder, folder)
    with pytest.raises(
        EncoderError, match=rf"rows would call it '@models/mine', which {PROBLEM}; or write a name into"
    ):
        locate(str(folder))
    for name in MARKS[:4]:
        (folder / NAME_FILE).write_text(f"{name}\n")
        with pytest.raises(EncoderError, match=rf"{NAME_FILE}: .* {PROBLEM}"):
            display_name(str(folder))
    (folder / NAME_FILE).write_text("mine = yours\n")
    assert locate(str(folder)).name == "mine = yours"


@pytest.mark.parametrize(
    ("task", "name"),
    [("mlm", "text:=de:FILE"), ("xnli", "tsv:-de:FILE"), ("parsing", "treebank:@de:FILE"), ("pos", "treebank:+x:FILE")],
)
def test_no_code_of_a_language_begins_so(tmp_path: Path, task: str, name: str):
    (tmp_path / "x.txt").write_text("a\n")
    with pytest.raises(InputError, match=PROBLEM):
        find(TASKS[task], name.replace("FILE", str(tmp_path / "x.txt")), "test", None, 0)


def test_no_code_of_translations_begins_so(tmp_path: Path):
    (tmp_path / "x.txt").write_text("a\n")
    with pytest.raises(InputError, match=PROBLEM):
        find_named_pairs(f"tsv:=de:{tmp_path / 'x.txt'}")
    with pytest.raises(InputError, match=PROBLEM):
        find_pairs(f"text:de:{tmp_path / 'x.txt'}", f"text:=nl:{tmp_path / 'x.txt'}")
