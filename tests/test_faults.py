"""Short forms of `make faults`: faulty input of every kind, and stores that are killed, corrupted, shared and full."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from faults import limits
from faults.attempts import HangError, WrongError, problems
from faults.inputs import input_attempts
from faults.limits import Command, limited
from faults.mutations import odd_file, odd_json
from faults.right_input import CONLLU
from faults.stores import Laboratory
from faults.tables import tables

from babelscope.core.crash import VARIABLE, Point, crash_point
from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.engine.store import Store

SOURCE = Path(__file__).parent.parent / "src" / "babelscope"


@pytest.fixture(scope="module")
def attempts(tmp_path_factory):
    return input_attempts(tmp_path_factory.mktemp("right"))


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("BABELSCOPE_DATA", raising=False)


def test_nothing_but_errors_in_words_comes_of_faulty_input(attempts, tmp_path):
    tally: Counter[str] = Counter()
    wrong = [f"{kind} {number}\n{what}" for kind, number, what in problems(attempts, tmp_path, range(256), tally)]
    assert not wrong, "\n".join(wrong)
    assert tally.total() == 256 and tally[f"{next(iter(attempts))}: refused"]


def test_what_is_right_is_read(attempts, tmp_path, monkeypatch):
    """So that faults are refused for what they are."""
    for module in ("faults.inputs", "faults.readers"):
        monkeypatch.setattr(f"{module}.odd_file", lambda text, chance: text.encode())
    monkeypatch.setattr("faults.readers.odd_bytes", lambda raw, chance: raw)
    monkeypatch.setattr("faults.inputs._odd_arguments", lambda arguments, chance: arguments)
    monkeypatch.setattr("faults.inputs.odd_json_file", lambda value, chance: json.dumps(value).encode())
    tally: Counter[str] = Counter()
    attempts = {kind: attempt for kind, attempt in attempts.items() if "--with" not in kind}  # never right
    assert not list(problems(attempts, tmp_path, range(len(attempts)), tally))
    refused = {"rows", "report", "run", "export", "advise"}  # since what they need is not there
    assert {kind for kind in attempts if tally[f"{kind}: refused"]} == {f"babelscope {name}" for name in refused}


def test_a_traceback_a_hang_memory_and_an_error_without_words_are_problems(tmp_path, monkeypatch):
    def fail(chance, folder):
        raise KeyError("x")

    def refuse(chance, folder):
        raise InputError("")

    def hang(chance, folder):
        while True:
            pass

    def wait(chance, folder):
        signal.pause()

    def fill(chance, folder):
        return bytes(3 << 30)

    monkeypatch.setattr(limits, "SECONDS", 0.5)
    monkeypatch.setattr(limits, "PATIENCE", 3)
    attempts = {attempt.__name__: limited(attempt) for attempt in (fail, refuse, hang, wait, fill)}
    tally: Counter[str] = Counter()
    wrong = list(problems(attempts, tmp_path, range(len(attempts)), tally))
    assert [problem.kind for problem in wrong] == list(attempts)
    causes = ("KeyError: 'x'", "without words", HangError.__name__, HangError.__name__, "MemoryError")
    assert all(cause in problem.what for cause, problem in zip(causes, wrong, strict=True))
    assert tally.total() == 5 and tally["refuse: refused"] == 1


def test_the_same_number_makes_the_same_faults():
    drawn = [(odd_file(CONLLU, random.Random(k)), odd_json({"a": [1, "b"]}, random.Random(k))) for k in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]


def in_a_fork(work):
    """The exit status."""
    if not (process := os.fork()):
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_a_process_dies_at_the_named_point_as_often_as_it_says_and_no_other(monkeypatch):
    def pass_twice():
        for point in ("rows-added", "claimed", "rows-added"):
            crash_point(point)

    assert in_a_fork(pass_twice) == 0
    for wanted, status in (("rows-added:2", -signal.SIGKILL), ("rows-added:3", 0), ("claimed:1", -signal.SIGKILL)):
        monkeypatch.setenv(VARIABLE, wanted)
        assert in_a_fork(pass_twice) == status


def test_every_point_is_somewhere():
    code = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    assert all(code.count(f'crash_point("{point}")') == 1 for point in get_args(Point))


@pytest.fixture
def laboratory(tmp_path):
    """With a store that has results of nothing."""
    laboratory = Laboratory(tmp_path / "study")
    store = laboratory.undisturbed = tmp_path / "undisturbed"
    Store(store).prepare()
    for number, key in enumerate(laboratory.plan.steps):
        publish(store, key, number)
    return laboratory


def publish(folder, key, number):
    Store(folder).write_rows(key, [Row("loss", number)])
    Store(folder).publish(key, {"step": "Tune", "fields": {}})


def test_another_result_a_lost_one_and_what_is_left_are_found(laboratory, tmp_path):
    store, key = tmp_path / "store", list(laboratory.plan.steps)[-1]
    shutil.copytree(laboratory.undisturbed, store)
    laboratory.check_all(store)
    (result,) = store.glob(f"results/*/{key}")
    (store / "drafts" / key).mkdir()
    with pytest.raises(WrongError, match="left after a run"):
        laboratory.check_all(store)
    shutil.rmtree(result)
    with pytest.raises(WrongError, match="there is no"):
        laboratory.check_all(store)
    publish(store, key, 7.5)
    with pytest.raises(WrongError, match=f"{key}: .*value=7.5.* and not"):
        laboratory.check_all(store)
    (result / "rows.jsonl").write_text("")
    assert laboratory.check_published(store) == {"damaged": 1, "right": len(laboratory.plan.steps) - 1}


@pytest.mark.parametrize(
    ("limit", "most", "code"),
    [
        ("PATIENCE", 120, "raise KeyError"),
        ("PATIENCE", 2, "import time; time.sleep(99)"),
        ("SECONDS", 0.5, "import time\nwhile time.process_time() < 1: pass"),
        ("MEMORY", 100 << 20, "b'x' * (200 << 20)"),
    ],
)
def test_a_command_that_fails_or_takes_too_much_is_wrong(tmp_path, monkeypatch, limit, most, code):
    run = (sys.executable, "-c")
    assert Command(tmp_path, "print(1)", program=run).end() == (0, "1\n")
    monkeypatch.setattr(limits, limit, most)
    with pytest.raises(WrongError):
        Command(tmp_path, code, program=run).end()


def test_stores_stand_kills_corruptions_and_a_full_disk(tmp_path):
    """One attempt of each part, in a process that torch has not yet trained in, so that it can be forked.

    Three runners take too long here; test_interruption.py has two.
    """
    counts = tmp_path / "counts.json"
    command = [sys.executable, "-m", "faults", "--attempts", "1", "--first", "0", "--save", str(counts), "--kind"]
    parts, paths = ("kills", "corruptions", "full disk"), {"PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [*command, "killed at claimed", "corrupted index", "limit*", "--parts", *parts], env={**os.environ, **paths},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    tally = Counter(json.loads(counts.read_text()))
    assert sum(count for name, count in tally.items() if name.endswith(": fine")) == 3
    assert sum(count for name, count in tally.items() if name.startswith("kill: ")) >= 1
    assert sum(count for name, count in tally.items() if name.startswith("corruption: ")) >= 5


def test_counts_of_parts_are_summed():
    first, second = Counter({"plan: fine": 1200, "plan: refused": 3}), Counter({"plan: fine": 5, "kill: claimed": 2})
    assert tables([first, second]).splitlines() == [
        "| attempts | went well | refused in words | wrong |",
        "| --- | ---: | ---: | ---: |",
        "| plan | 1,205 | 3 | 0 |",
        "",
        "| what was done in them | times |",
        "| --- | ---: |",
        "| kill: claimed | 2 |",
    ]
