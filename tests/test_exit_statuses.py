"""Exit statuses: 1 where a step failed, 2 for wrong input, each with a plain message."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from babelscope.engine.store import Store
from command_line import SOON, babelscope, declaration, write_study

pytestmark = pytest.mark.usefixtures("in_process")


def test_a_step_that_fails_makes_exit_status_1_and_the_others_run(encoder_folder, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(encoder_folder, broken)
    weights = broken / "model.safetensors"
    weights.write_bytes(bytes(weights.stat().st_size))
    path = write_study(tmp_path / "study.yaml", declaration(broken, seeds=[0], retrieval=None))
    answer = babelscope("run", path, "--store", tmp_path / "store", "--jobs", 1)
    assert answer.status == 1
    assert answer.output.startswith("tiny: 2 steps computed, 0 cached, 2 failed, 4 blocked")
    assert re.search(r"failed tune .*broken on qaa, pos, seed 0: cannot load the encoder", answer.errors)
    assert "blocked evaluate on qab" in answer.errors and "Traceback" not in answer.errors
    status = babelscope("status", path, "--store", tmp_path / "store").output
    assert re.search(r"^Baseline +2 +0 +0 +0\b", status, re.MULTILINE)
    rows = babelscope("rows", path, "--store", tmp_path / "store", "-o", tmp_path / "rows.csv")
    assert rows.status == 0 and "2 of 8 steps are done" in rows.errors


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["plan", "nope"],
            "no study is named 'nope'; there are first-look, align-then-predict, alignment-by-layer, ",
        ),
        (["plan", "nope.yaml"], "nope.yaml: cannot be read: No such file or directory"),
        (["plan", "first-look@moon"], "first-look has no profile 'moon'"),
        (
            ["run", "first-look", "--with", "nope=1"],
            "nope: unknown key; allowed are device, encoder, keep, learning_rate, ",
        ),
        (["run", "first-look", "--with", "seeds=no"], "seeds: should be a whole number"),
        (["run", "first-look", "--with", "seeds"], "--with seeds: expected KEY=VALUE, such as --with seeds=5"),
        (["run", "first-look", "--with", "=5"], "expected KEY=VALUE"),
        (["plan", "first-look", "--with", "seeds=1", "--with", "seeds=2"], "--with seeds: given twice"),
        (["plan", "first-look", "--with", "encoder=/no/such/folder"], "encoders.0: /no/such/folder: no such folder"),
        (["plan", "first-look", "--with", "encoder=2024-13-45/x/y"], "encoders.0: 2024-13-45/x/y: no such folder"),
        (["plan", "first-look", "--with", "seeds=!!int x"], "seeds: should be a whole number"),
        (["plan", "first-look", "--with", f"scale={'[' * 1500}"], "scale: Input should be 'full' or 'small'"),
        (["plan", "first-look", "--with", f"encoder=/{'x' * 300}"], "xxx: cannot be read: File name too long"),
        (["plan", "x" * 300], "xxx: cannot be read: File name too long"),
        (["rows", "x" * 300, "-o", "."], "xxx: cannot be read: File name too long"),
        (
            ["plan", "first-look", "--with", "<tag>=1", "--with", "[x]=1"],
            "<tag>: unknown key; allowed are device, encoder,",
        ),
        (["list", "nope"], "nothing to list by the name of 'nope'; there are studies, tasks,"),
        (["run", "first-look", "--jobs", "0"], "--jobs"),
        (["nope"], "No such command 'nope'"),
        (["plan"], "Missing argument 'STUDY'"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_wrong_input_is_exit_status_2_with_a_plain_message(arguments, problem):
    answer = babelscope(*arguments)
    assert answer.status == 2
    assert problem in answer.errors and "Traceback" not in answer.errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_where_nothing_can_be_printed_there_are_words() -> None:
    """A full disk under what a shell redirects, say; and Python does not complain of it once more at its end."""
    command = [sys.executable, "-m", "babelscope", "list", "languages"]
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=SOON)
    assert answer.returncode == 1
    assert answer.stderr == "error what this command says cannot be written: No space left on device\n"


@pytest.mark.parametrize("command", ["status", "store verify", "store gc", "store push", "store pull"])
def test_changes_are_refused_where_no_study_is_named_that_they_would_be_of(command, tmp_path) -> None:
    """What is shown, copied or removed would be that of other studies than the one that was meant."""
    for folder in ("store", "other"):
        Store(tmp_path / folder).prepare()
    other = [tmp_path / "other"] if command.split()[-1] in ("push", "pull") else []
    answer = babelscope(*command.split(), *other, "--store", tmp_path / "store", "--with", "scale=small")
    assert answer.status == 2 and "--with scale=small: changes a study, and none is named" in answer.errors
