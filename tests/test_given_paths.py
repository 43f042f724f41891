"""Every path that a command takes: what cannot be is refused in words, before anything else is looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from babelscope.core.errors import InputError
from babelscope.core.files import replacing
from babelscope.core.row import Row
from babelscope.core.row_table import write_rows
from command_line import Answer, babelscope, declaration, write_study
from test_outside import NO_PATHS

WRITERS = {
    "rows": ("rows", "first-look"),
    "report": ("report", "first-look"),
    "export": ("export", "feedfeed"),
    "predict": ("predict", "feedfeed", "absent.txt"),
    "operate": ("operate", "absent/of/all", "--op", "reverse"),
    "bring-in": ("bring-in", "absent/of/all", "--language", "it", "--parallel", "absent.tsv"),
    "transliterate": ("transliterate", "absent.txt", "--by", "greek"),
    "advise": ("advise", "--language", "mt", "--text", "absent.txt", "--encoder", "absent/of/all"),
}
"""Every command that writes, with arguments that are refused when they are looked at."""
READERS = {
    "plan": ("plan", "PATH"),
    "plan --store": ("plan", "first-look", "--store", "PATH"),
    "plan --with": ("plan", "first-look", "--with", "encoder=./PATH"),
    "predict": ("predict", "feedfeed", "PATH", "-o", "new.txt"),
    "predict with": ("predict", "./PATH", "absent.txt", "-o", "new.txt"),
    "operate": ("operate", "PATH", "--op", "reverse", "-o", "new"),
    "operate with": ("operate", "world-natural", "--op", "graft:donor=PATH", "-o", "new"),
    "bring-in": ("bring-in", "PATH", "--language", "it", "--parallel", "absent.tsv", "-o", "new"),
    "bring-in by": ("bring-in", "world-natural", "--language", "it", "--parallel", "PATH.tsv", "-o", "new"),
    "bring-in by two": ("bring-in", "world-natural", "--language", "it", "--parallel", "PATH,PATH", "-o", "new"),
    "transliterate": ("transliterate", "PATH", "--by", "greek", "-o", "new"),
    "transliterate by": ("transliterate", "absent.txt", "--by", "table:PATH", "-o", "new"),
    "advise": ("advise", "--language", "mt", "--text", "PATH", "--encoder", "world-natural"),
    "advise by": ("advise", "--language", "mt", "--text", "PATH", "--encoder", "PATH", "--treebank", "PATH"),
    "doctor": ("doctor", "--store", "PATH"),
}
"""Every argument that can be a path."""


def assert_refused(answer: Answer, problem: str, folder: Path) -> None:
    assert answer.status == 2 and answer.errors.startswith("error "), answer
    assert problem in answer.errors and answer.errors.encode(), answer
    assert not list(folder.iterdir())


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, in which nothing is."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    return tmp_path / "empty"


@pytest.mark.parametrize("command", WRITERS)
def test_where_nothing_can_be_written_is_said_before_anything_else(command, empty, monkeypatch):
    (empty.parent / "file").touch()
    for target, problem in [*NO_PATHS.items(), ("../file/x.html", "is a file, so nothing can be in it")]:
        assert_refused(babelscope(*WRITERS[command], "-o", target), problem, empty)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert_refused(babelscope(*WRITERS[command], "-o", "x.html"), "cannot be written to; choose another place", empty)


@pytest.mark.parametrize("command", ["rows", "report", "predict", "transliterate", "advise"])
def test_what_is_written_plainly_is_not_named_as_if_it_were_compressed(command, empty):
    """No program could read it, this one neither."""
    for suffix in (".gz", ".GZ"):
        told = f"x.conllu{suffix}: files are written uncompressed; leave {suffix} out of the name"
        assert_refused(babelscope(*WRITERS[command], "-o", f"x.conllu{suffix}"), told, empty)


@pytest.mark.parametrize("command", READERS)
def test_a_path_that_cannot_be_read_is_refused_in_words(command, empty):
    for path in NO_PATHS:
        arguments = [argument.replace("./PATH", path).replace("PATH", path) for argument in READERS[command]]
        assert_refused(babelscope(*arguments), "", empty)


@pytest.mark.parametrize("variable", ["BABELSCOPE_STORE", "BABELSCOPE_DATA"])
def test_a_folder_that_the_environment_names_is_looked_at_like_any_other(variable, empty, monkeypatch):
    for path, problem in NO_PATHS.items():
        if "\0" not in path and "\ud800" not in path:
            monkeypatch.setenv(variable, path)
            assert_refused(babelscope("plan", "first-look@real"), problem, empty)


@pytest.mark.parametrize("command", ["rows", "report"])
def test_a_study_in_ones_own_folder_is_not_written_over(command, tmp_path, encoder_folder, monkeypatch):
    """By a path that begins with `~`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    study = write_study(tmp_path / "study.yaml", declaration(encoder_folder))
    before = study.read_bytes()
    answer = babelscope(command, "~/study.yaml", "-o", study, "--store", tmp_path / "store")
    assert answer.status == 2 and "the study itself, which would be lost" in answer.errors
    (tmp_path / "rows.csv").touch()
    answer = babelscope(command, "~/study.yaml", "-o", tmp_path / "rows.csv", "--store", tmp_path / "store")
    assert answer.status in (1, 2) and "which would be lost" not in answer.errors and "~" not in answer.errors
    assert study.read_bytes() == before


def test_text_that_utf_8_cannot_hold_is_refused_wherever_it_is(empty, tmp_path, encoder_folder):
    study = write_study(tmp_path / "study.yaml", declaration(encoder_folder))
    study.write_text(study.read_text().replace("question: ", 'question: "\\ud800"  # '))
    assert_refused(babelscope("plan", study), "question: should be text that can be written as UTF-8", empty)
    write_study(study, declaration(encoder_folder))
    for key in ("question", "name", "encoders.0", "tasks.pos.train.0", "left_out.x"):
        assert_refused(babelscope("plan", study, "--with", f"{key}=\udcff"), "UTF-8", empty)
    assert_refused(babelscope("plan", "first-look", "--with", "encoder=\udcff"), "UTF-8", empty)


def test_what_cannot_be_moved_into_its_place_leaves_nothing(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"below: cannot be written"), replacing(tmp_path / "file" / "below"):
        pass
    long = tmp_path / ("x" * 255)  # the draft beside it would have a longer name
    with pytest.raises(InputError, match=r"cannot be written: File name too long"), replacing(long) as draft:
        draft.touch()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_table_that_is_not_written_to_its_end_leaves_the_one_before(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    write_rows([Row("accuracy", 0.5)], path)
    before = path.read_bytes()
    monkeypatch.setattr(pd.DataFrame, "to_csv", lambda table, file, index: file.write_text("half a") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_rows([Row("accuracy", 0.6)], path)
    assert path.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("code", ["..", "", "a/b", "x" * 300, "de\n"])
def test_what_is_no_code_of_a_language_is_refused(code, empty):
    answer = babelscope("predict", "feedfeed", "absent.txt", "-o", "new.conllu", "--language", code)
    assert_refused(answer, "should be the code of a language", empty)
