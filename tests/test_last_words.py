"""What no part of a command can mend ends in words, too: no memory, no temporary folder, no working folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from babelscope.core.outside import silent_where_it_fails
from command_line import SOON, babelscope

COMMAND = "list", "languages"


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Have the command line meet an error that nothing is said of before."""

    def fail() -> None:
        raise error

    monkeypatch.setattr("babelscope.face.cli.app", fail)


def test_where_memory_does_not_suffice_there_are_words(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, MemoryError())
    answer = babelscope(*COMMAND)
    assert answer.status == 1 and answer.errors.startswith("error memory did not suffice for what this command reads;")


def test_where_there_is_no_temporary_folder_the_working_folder_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, FileNotFoundError(2, "No usable temporary directory found in ['/tmp', '/x']"))
    answer = babelscope(*COMMAND)
    assert answer.status == 1 and "is gone" not in answer.errors
    assert "(No usable temporary directory found in ['/tmp', '/x']); set TMPDIR to a folder" in answer.errors


@pytest.mark.skipif(sys.platform == "win32", reason="a folder that is in use stays there on Windows")
def test_where_the_working_folder_is_gone_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    code = "import os; os.rmdir('../gone'); from babelscope.face.cli import main; main()"
    command = [sys.executable, "-c", code, "plan", "first-look", "--store", "s"]
    answer = subprocess.run(command, cwd=tmp_path / "gone", capture_output=True, text=True, timeout=SOON)
    assert answer.returncode == 1
    assert answer.stderr == "error the folder that this command is run in is gone; run it in another one\n"


def test_where_no_temporary_file_can_be_made_nothing_is_hidden(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refused() -> None:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("babelscope.core.outside.TemporaryFile", refused)
    with pytest.raises(ZeroDivisionError), silent_where_it_fails():
        os.write(2, b"panicked")
        raise ZeroDivisionError
    assert capfd.readouterr().err == "panicked"
