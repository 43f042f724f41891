"""Faulty input of every kind: nothing but errors in words comes of it. `tools/input_faults.py` goes on without end."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from input_faults import HangError, all_attempts, problems
from mutations import odd_file, odd_json
from right_input import CONLLU

from babelscope.core.errors import InputError


@pytest.fixture(scope="module")
def attempts(tmp_path_factory):
    return all_attempts(tmp_path_factory.mktemp("right"))


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
    monkeypatch.setattr("input_faults.odd_file", lambda text, chance: text.encode())
    monkeypatch.setattr("input_faults._odd_arguments", lambda arguments, chance: arguments)
    monkeypatch.setattr("input_faults.odd_json_file", lambda value, chance: json.dumps(value).encode())
    tally: Counter[str] = Counter()
    assert not list(problems(attempts, tmp_path, range(len(attempts)), tally))
    refused = {"rows", "report", "run", "export", "advise"}  # since what they need is not there
    assert {kind for kind in attempts if tally[f"{kind}: refused"]} == {f"babelscope {name}" for name in refused}


def test_a_traceback_a_hang_and_an_error_without_words_are_problems(tmp_path, monkeypatch):
    def fail(chance, folder):
        raise KeyError("x")

    def refuse(chance, folder):
        raise InputError("")

    def hang(chance, folder):
        while True:
            pass

    monkeypatch.setattr("input_faults.SECONDS", 1)
    found = list(problems({"fail": fail, "refuse": refuse, "hang": hang}, tmp_path, range(3), Counter()))
    assert [problem.kind for problem in found] == ["fail", "refuse", "hang"]
    assert "KeyError: 'x'" in found[0].what and HangError.__name__ in found[2].what


def test_the_same_number_makes_the_same_faults():
    drawn = [(odd_file(CONLLU, random.Random(k)), odd_json({"a": [1, "b"]}, random.Random(k))) for k in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]
