"""Every code block of README and docs is run here, in a test of its page's own, or says what it would need.

Blocks with built-in studies are run with a tiny one in their place; `python tests/blocks.py` lists those that are not
run. Their commands and options are compared with those that there are.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from ruamel.yaml import YAML

from babelscope.encoders.places import display_name
from babelscope.face.cli import app
from babelscope.face.job import _parse_changes
from babelscope.steps import Tune
from babelscope.studies import STUDIES, find_study
from blocks import NEEDS, ROOT, all_blocks
from command_line import babelscope, declaration, write_study

BLOCKS = all_blocks()
MARKED = [block for block in BLOCKS if block.needs]
ELSEWHERE = {
    "README.md": "test_readme",
    "tutorial.md": "test_readme",
    "extending.md": "test_extending",
    "alignment.md": "test_alignment",
}
"""Pages whose blocks are run, in their order, by a test of their own."""
OWN = [block for block in BLOCKS if not block.needs and block.page not in ELSEWHERE]
RUN = [block for block in OWN if block.language in ("sh", "python")]
PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def place(tmp_path_factory, encoder_folder, in_process):
    """A folder with a tiny study that has been run, its rows, and a model that was exported."""
    folder = tmp_path_factory.mktemp("blocks")
    measures = [
        {"measure": "projection", "source": "qaa", "targets": ["qab"], "sentences": 20, "pairs": 8},
        {"measure": "similarity", "source": "world:qaa", "targets": ["world:qab"], "sentences": 10},
    ]
    declared = declaration(encoder_folder, surgeries=[None], retrieval=None, measures=measures)
    study = write_study(folder / "tiny.yaml", declared)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("BABELSCOPE_STORE", str(folder / "store"))
        for arguments in (
            ("run", study, "--jobs", 1), ("rows", study, "-o", "rows.csv"),
            ("rows", study, "--split", "test", "--wide", "language", "-o", "scores.csv"),
            ("export", key_of(study, folder), "-o", "exported"),
        ):  # fmt: skip
            assert (answer := babelscope(*arguments)).status == 0, answer.errors
        yield folder


def key_of(study: Path, folder: Path) -> str:
    from babelscope.face.job import job_of

    steps = job_of(str(study), None, folder / "store").plan.steps.values()
    return next(step.key for step in steps if type(step) is Tune)


def small(text: str, folder: Path) -> str:
    """A command or Python with what is at hand in the place of what its page speaks of."""
    studies = rf"(?<![\w/.-])(?:{'|'.join(STUDIES)}|STUDY)(?:@\w+)?(?![\w.-])"
    text = re.sub(studies, "tiny.yaml", text)
    text = re.sub(r"\b(\d+)_\d00\b", r"\1", text)  # thousands of sentences
    text = re.sub(r"\[(--seed) N\]", r"\1 1", text).replace("drop:last=6", "drop:last=2")
    (encoder,) = YAML(typ="safe", pure=True).load(folder / "tiny.yaml")["encoders"]
    empty = f"empty --encoder {display_name(encoder)}={encoder}"
    stand_ins = {
        "EMPTY": empty,
        "ENCODER": "world-natural",
        "STORE": "store",
        '"FOLDER"': '"exported"',
        "-o FOLDER": "-o made",
    }
    for name, there in stand_ins.items():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", there, text)
    return text


@pytest.mark.parametrize("block", RUN, ids=str)
def test_a_block_runs(block, place, monkeypatch):
    if block.language == "python":
        monkeypatch.chdir(place)
        exec(compile(small(block.text, place), str(block), "exec"), {})  # noqa: S102
        return
    for command in block.commands:
        program, *arguments = shlex.split(small(command, place))
        assert program == "babelscope", f"{command}: give the block a mark, or a test of its own"
        answer = babelscope(*arguments)
        assert answer.status == 0, f"{command}\n{answer.errors}"


def test_blocks_are_of_known_languages_and_marks_of_known_needs():
    assert {block.language for block in BLOCKS} <= {"sh", "python", "yaml", "toml", "text"}
    assert {block.needs for block in MARKED} <= NEEDS
    assert len(RUN) > 15 and all(any((ROOT / "tests").rglob(f"{name}.py")) for name in ELSEWHERE.values())
    print(*(f"{block}: needs {block.needs}" for block in MARKED), sep="\n")  # seen with pytest -s


def shown(text: str) -> Any:
    """The arguments of a line of a page, as the command line would get them."""
    return shlex.split(re.sub(r"[\[\]]", "", text))[1:]


def commands(language: str = "sh") -> list[tuple[str, str]]:
    """Place and text of each command of Babelscope in all blocks, marked or not."""
    found = []
    for block in BLOCKS:
        for command in block.commands if block.language == language else ():
            found += [(str(block), part) for part in re.findall(r"^babelscope [^;&|]*", command.split(" > ")[0])]
    return found


@pytest.mark.parametrize(("where", "command"), commands())
def test_commands_and_options_exist_and_studies_have_their_parameters(where, command, monkeypatch, tmp_path):
    """As the command line itself reads them; nothing is called."""
    monkeypatch.chdir(tmp_path)
    group: Any = typer.main.get_command(app)
    arguments = shown(command)
    while hasattr(group, "commands"):
        assert arguments[0] in group.commands, f"{where}: {command}"
        group = group.commands[arguments.pop(0)]
    context = group.make_context("babelscope", [re.sub(r"^N$", "1", word) for word in arguments])
    name, changes = str(context.params.get("name") or ""), context.params.get("with_")
    if name.partition("@")[0] in STUDIES:
        assert find_study(name, _parse_changes([change for change in changes or () if "encoder=" not in change]))


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "sh"], ids=str)
def test_extras_and_targets_of_make_exist(block):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in block.commands:
        for extra in re.findall(r"babelscope\[(\w+)\]", command):
            assert extra in PACKAGE["optional-dependencies"]
        for target in re.findall(r"^make ([\w-]+)", command):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), command


@pytest.mark.parametrize("block", [block for block in MARKED if block.language == "python"], ids=str)
def test_python_that_is_not_run_can_be_read(block):
    compile(block.text, str(block), "exec")


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "yaml"], ids=str)
def test_yaml_can_be_read(block):
    """Studies among it are compiled by `test_docs`."""
    assert YAML(typ="safe", pure=True).load(block.text)


def test_a_command_that_there_is_not_is_found(monkeypatch, tmp_path):
    """The check of commands fails where it should."""
    for command, error, said in (
        ("babelscope runn first-look", "AssertionError", "runn"),
        ("babelscope run first-look --sedes 3", "NoSuchOption", "--sedes"),  # typer has its own, or click's
    ):
        with pytest.raises(Exception, match=said) as caught:
            test_commands_and_options_exist_and_studies_have_their_parameters("here", command, monkeypatch, tmp_path)
        assert caught.typename == error
