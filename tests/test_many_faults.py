"""What a message lists of many faults: so much that it can be read."""

from __future__ import annotations

import pytest

from babelscope.core.errors import MOST_FAULTS, InputError, StudyError
from babelscope.core.faults import MOST_ADVICE, Faults


def lines(faults: list[str]) -> list[str]:
    error = StudyError("study mine", faults)
    assert error.faults == tuple(faults)
    return str(error).splitlines()


def test_up_to_a_number_all_are_listed():
    faults = [f"tasks.{number}: no such task" for number in range(MOST_FAULTS)]
    assert lines(faults) == [f"study mine: {MOST_FAULTS} faults", *(f"  - {fault}" for fault in faults)]


def test_of_more_those_that_differ_in_the_key_alone_are_one():
    same = [f"tasks.{number}: no such task: x" for number in range(MOST_FAULTS)]
    told = lines([*same, "seeds: none", "odd"])
    assert told == [
        f"study mine: {MOST_FAULTS + 2} faults",
        f"  - tasks.0 and {MOST_FAULTS - 1} more: no such task: x",
        "  - seeds: none",
        "  - odd",
    ]


def test_of_many_others_the_first_are_listed():
    faults = [f"tasks.{number}: no such task as {number}" for number in range(MOST_FAULTS + 3)]
    told = lines(faults)
    assert told[1 : 1 + MOST_FAULTS] == [f"  - {fault}" for fault in faults[:MOST_FAULTS]]
    assert told[1 + MOST_FAULTS :] == ["  - and 3 more like these"]


@pytest.mark.parametrize(("count", "more"), [(MOST_ADVICE, []), (MOST_ADVICE + 2, ["and 2 more like these"])])
def test_of_advice_as_well(count, more):
    def find(number: int) -> None:
        raise InputError("not there", f"fetch {number}")

    faults = Faults()
    for number in range(count):
        faults.resolve(f"tasks.{number}", find, number)
    with pytest.raises(StudyError) as caught:
        faults.report("mine")
    assert caught.value.advice.splitlines() == [*(f"fetch {number}" for number in range(MOST_ADVICE)), *more]


def test_what_could_not_be_fetched_is_one():
    faults = [
        f"tasks.{n}: ntrex:x{n} could not be fetched from https://a.b/{n}: no network" for n in range(MOST_FAULTS)
    ]
    assert lines([*faults, "seeds: missing"]) == [
        f"study mine: {MOST_FAULTS + 1} faults",
        f"  - tasks.0 and {MOST_FAULTS - 1} more: {faults[0].partition(': ')[2]}",
        "  - seeds: missing",
    ]
