"""The command line, called in this process or in one of its own, for tests."""

from __future__ import annotations

import contextlib
import functools
import io
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer.main
from ruamel.yaml import YAML

SOON = 120
"""Seconds after which a test gives up; none of them waits that long unless something is wrong."""


HEED_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
"""A shell has what it runs in the background ignore Ctrl-C, and processes started from there do, too."""


class Answer(NamedTuple):
    """How a command ended."""

    status: int
    output: str
    errors: str


# The tree of commands is the same for all calls; to make it takes longer than most of them.
typer.main.get_command = functools.cache(typer.main.get_command)


def babelscope(*arguments: object) -> Answer:
    """Call the entry point in this process. A traceback is an exception here, and fails the test."""
    from babelscope.face.cli import main

    output, errors, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["babelscope", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), within(SOON):
            main()
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.argv = before
    return Answer(status, output.getvalue(), errors.getvalue())


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes longer."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} seconds")

    previous = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, where Ctrl-C counts though the tests run in the background."""
    code = f"{HEED_CTRL_C}from babelscope.face.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )


def declaration(encoder: Path, **changes: Any) -> dict[str, Any]:
    """A study of two languages and two seeds that takes seconds."""
    return {
        "name": "tiny",
        "question": "Does anything carry over?",
        "encoders": [str(encoder)],
        "surgeries": [None, "reinit"],
        "tasks": {"pos": transfer()},
        "seeds": [0, 1],
        "retrieval": {"source": "qaa", "targets": ["qab"], "sentences": 10},
    } | changes


def transfer(**changes: Any) -> dict[str, Any]:
    """What its task is trained on, and where it is scored."""
    return {
        "train": ["world:qaa"],
        "evaluate": ["world:qaa", "world:qab"],
        "sizes": {"train": 30, "dev": 10, "test": 10},
        "tuning": {"learning_rate": 1e-3, "epochs": 2},
        "baselines": ["most-frequent-tag"],
    } | changes


def write_study(path: Path, declared: dict[str, Any]) -> Path:
    """The declaration as a YAML file."""
    with path.open("w", encoding="utf-8") as stream:
        YAML(typ="safe", pure=True).dump(declared, stream)
    return path
