"""What commands say without a run: lists, help, the doctor, and studies in a folder of one's own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import babelscope as package
from babelscope.engine.store import Store
from babelscope.face.catalogue import KINDS
from babelscope.studies import STUDIES
from command_line import SOON, babelscope, declaration, write_study

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_lists(kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)
    answer = babelscope("list", *([kind] if kind else []))
    assert answer.status == 0
    expected = {
        None: "first-look", "studies": "first-look", "tasks": "pos", "surgeries": "reinit", "measures": "perplexity",
        "languages": "world:qaa", "encoders": "FOLDER", "treebanks": "UD_English-PUD", "schedules": "gradual",
        "sources": "treebank",
    }[kind]  # fmt: skip
    assert expected in answer.output
    assert kind != "tasks" or "regression" in answer.output
    assert "…" not in answer.output  # nothing is cut at 80 columns


def test_a_yaml_file_or_a_module_in_a_folder_of_studies_is_a_study_by_name(tmp_path, monkeypatch):
    folder = tmp_path / "my_studies"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "notes.py").write_text("NOTHING = 0\n", encoding="utf-8")
    lines = [
        '"""in-code: is a module found?"""',
        "from babelscope.studies.first_look import Parameters, world",
        'PROFILES = {"world": world}',
    ]
    (folder / "in_code.py").write_text("\n".join(lines), encoding="utf-8")
    write_study(folder / "my_page.yaml", declaration(Path("world-natural"), question="Is a page found?"))
    write_study(tmp_path / "again.yml", declaration(Path("world-natural")))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(STUDIES, "_packages", list(STUDIES._packages))
    STUDIES.add("my_studies")
    listed = babelscope("list").output
    assert "my-page" in listed and "in-code" in listed and "notes" not in listed
    assert "Is a page" in listed and "is a module" in listed
    store = ("--store", tmp_path / "store")
    assert babelscope("plan", "my-page", *store).output.endswith(f"17 steps, 0 cached, in {tmp_path / 'store'}\n")
    assert babelscope("plan", "my-page", "--with", "seeds=[0]", *store).output.count("\n") > 3
    assert babelscope("plan", "in-code", "--with", "scale=small", *store).status == 0
    for name, problem in (
        ("my-page@world", "my-page has no profiles; leave out @world"),
        ("in-code@moon", "in-code has no profile 'moon'; there are world"),
        ("notes", "no study is named 'notes'; there are first-look, "),
    ):
        answer = babelscope("plan", name, *store)
        assert answer.status == 2 and problem in answer.errors
    shutil.copy(tmp_path / "again.yml", folder / "first_look.yml")
    answer = babelscope("plan", "first-look", *store)
    assert answer.status == 2 and "two studies are named 'first-look'" in answer.errors


def test_a_study_that_cannot_be_planned_here_does_not_hide_the_others(tmp_path, monkeypatch):
    folder = tmp_path / "far_studies"
    folder.mkdir()
    (folder / "__init__.py").touch()
    write_study(folder / "far.yaml", declaration(Path("/no/such/encoder")))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(STUDIES, "_packages", ["far_studies"])
    answer = babelscope("status", "--store", tmp_path / "store")
    assert answer.status == 0 and "babelscope plan far says why" in answer.output


def test_help_imports_no_study():
    code = "import sys\nfrom babelscope.face.cli import main\n"
    code += "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
    code += "heavy = {'numpy', 'pandas', 'babelscope.studies', 'babelscope.steps'} & set(sys.modules)\n"
    code += "assert not heavy, heavy"
    for arguments in (["--help"], ["run", "--help"], ["--version"]):
        answer = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=SOON)
        assert answer.returncode == 0, answer.stderr


def test_version_and_help():
    assert babelscope("--version").output == f"{package.__version__}\n"
    text = babelscope("--help").output
    assert all(verb in text for verb in ("list", "plan", "run", "status", "rows", "report", "export", "doctor"))


def test_no_help_is_cut_at_80_columns(monkeypatch):
    from babelscope.face.cli import app

    monkeypatch.setenv("COLUMNS", "80")
    commands = typer.main.get_command(app).commands
    verbs = [[name] for name in commands] + [["store", name] for name in commands["store"].commands]
    assert [verb for verb in verbs if "…" in babelscope(*verb, "--help").output] == []
    listed = " ".join(babelscope("--help").output.split())
    assert all(command.get_short_help_str(1000) in listed for command in commands.values())


def test_doctor_measures_and_advises(tmp_path):
    from babelscope.encoders.shape import Shape
    from babelscope.engine.calibration import read_calibration
    from babelscope.face.doctor import Setting, examine, recommended, settings

    shapes, kept = {"tiny": Shape(layers=1, hidden=16, feed_forward=16)}, tmp_path / "cache" / "calibration.json"
    tables = examine(Store(tmp_path / "store"), shapes, passes=1, keep=kept)
    titles, headers, lines = zip(*tables, strict=True)
    assert titles == ("machine", "data", "training speed", "what to declare under tuning")
    assert all(len(line) == len(header) for header, table in zip(headers, lines, strict=True) for line in table)
    assert len(lines[2]) == len(settings()) and all(int(line[-1].replace(",", "")) > 0 for line in lines[2])
    slow, alike, fast = (Setting("cpu", name, 1) for name in ("float32", "bfloat16", "float16"))
    assert recommended({slow: 100.0, alike: 110.0}) == slow
    assert recommended({slow: 100.0, alike: 110.0, fast: 130.0}) == fast
    assert "load" in dict(lines[0]) and dict(lines[0])["speeds are kept in"].startswith(str(kept))
    measured = read_calibration(kept)
    assert measured.source.startswith("the calibration of this machine (")
    assert [(rate.device, rate.precision, rate.threads) for rate in measured.rates] == [*map(tuple, settings())]
