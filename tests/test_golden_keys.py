"""The keys of steps are those of the results that people have: a key that moves makes them compute everything again."""

from __future__ import annotations

import csv
import difflib
import json
from importlib.resources import files
from typing import Any, Literal

import pytest

import golden
from babelscope.core.declaration import Declaration
from babelscope.core.step import Step

STUDIES, EXAMPLES, DEFAULTS = (
    json.loads(file.read_text(encoding="utf-8"))
    for file in (golden.STUDIES_FILE, golden.EXAMPLES_FILE, golden.DEFAULTS_FILE)
)


@pytest.fixture(autouse=True)
def in_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study's own files are named from there."""
    monkeypatch.chdir(golden.FOLDER)


@pytest.mark.parametrize("label", STUDIES)
def test_a_study_has_the_steps_that_it_had(label: str) -> None:
    assert golden.summary(golden.plan_of(label)) == STUDIES[label], (
        "Keys have moved; the steps below that fail with this one say which. Raise their version if that is meant, "
        "then record anew: python tests/golden.py"
    )


@pytest.mark.parametrize(
    "number", range(len(EXAMPLES)), ids=[f"{e['hashed']['step']}-{e['key'][:6]}" for e in EXAMPLES]
)
def test_a_step_has_the_key_that_it_had(number: int) -> None:
    recorded = EXAMPLES[number]
    steps = golden.all_steps(golden.plan_of(golden.WIDE))
    same_kind = [golden.hashed(step) for step in steps if type(step).__name__ == recorded["hashed"]["step"]]
    assert same_kind, f"{recorded['hashed']['step']}: no step of that name is in the plan of {golden.WIDE}"
    assert max(same_kind, key=lambda hashed: _likeness(hashed, recorded["hashed"])) == recorded["hashed"]
    assert recorded["key"] in {step.key for step in steps}


def _likeness(first: dict[str, Any], second: dict[str, Any]) -> float:
    lines = [json.dumps(value, indent=0, sort_keys=True).splitlines() for value in (first, second)]
    return difflib.SequenceMatcher(None, *lines, autojunk=False).ratio()


def test_there_is_an_example_of_every_kind_of_step() -> None:
    """Of those that were there when keys were recorded; a kind that comes later may be added."""
    recorded = {example["hashed"]["step"] for example in EXAMPLES}
    in_studies = {type(step).__name__ for label in STUDIES for step in golden.plan_of(label).steps.values()}
    assert {"Load", "Operate", "Recurrent", *in_studies} <= recorded


# How a key is made.


def a_kind(**more: Any) -> type[Step]:
    """Classes of one name, as a class is before a change and after it."""
    fields = {"__annotations__": {"size": int} | {name: type(value) for name, value in more.items()}}
    return type("Grown", (Step,), {"__module__": __name__, "__qualname__": "Grown"} | fields | more)


def a_step_of(nested: type[Declaration]) -> type[Step]:
    fields = {"__annotations__": {"inner": nested, "several": tuple[nested, ...]}}
    return type("Holding", (Step,), {"__module__": __name__, "__qualname__": "Holding"} | fields)


def test_a_new_field_of_a_step_leaves_its_old_keys_alone() -> None:
    before, after = a_kind(), a_kind(depth=2, words=("a", "b"))
    assert after(size=1).key == after(size=1, depth=2).key == before(size=1).key
    assert len({after(size=1, depth=3).key, after(size=1, words=()).key, before(size=1).key}) == 3


class Before(Declaration):
    share: float


class After(Declaration):
    share: float
    seed: int = 0


def test_a_new_field_of_what_is_inside_leaves_old_keys_alone() -> None:
    old = a_step_of(Before)(inner=Before(share=0.5), several=(Before(share=1),)).key
    holding = a_step_of(After)
    assert holding(inner=After(share=0.5), several=(After(share=1, seed=0),)).key == old
    others = {
        holding(inner=After(share=0.5, seed=1), several=(After(share=1),)).key,
        holding(inner=After(share=0.5), several=(After(share=1, seed=1),)).key,
    }
    assert len(others | {old}) == 3


class Up(Declaration):
    way: Literal["up"] = "up"
    far: int = 1


class Down(Declaration):
    way: Literal["down"] = "down"
    far: int = 1


def test_the_field_that_says_of_which_kind_something_is_always_counts() -> None:
    up, down = (a_step_of(kind)(inner=kind(), several=()) for kind in (Up, Down))
    assert up.key != down.key


# Defaults that keys leave out: with another default, old keys would stand for other numbers.


def test_the_defaults_that_keys_leave_out_are_those_that_were_recorded() -> None:
    now, kinds = golden.defaults_now(), {kind.__name__: users for kind, users in golden.reachable().items()}
    changed = {name for name in now.keys() | DEFAULTS.keys() if now.get(name) != DEFAULTS.get(name)}
    told = [
        f"{name}: recorded {DEFAULTS.get(name)}, now {now.get(name)}. Where a default has changed, raise the version "
        f"of the steps that use it ({', '.join(sorted(kinds.get(name, ())))}), then record the new default: "
        f"the line {golden.line(name, now.get(name))} in {golden.DEFAULTS_FILE.name}, or python tests/golden.py"
        for name in sorted(changed)
    ]
    assert not told, "\n".join(told)


def test_a_default_that_is_left_out_is_seen() -> None:
    assert golden.left_out(After) == {"seed": 0}
    assert golden.left_out(Up) == {"far": 1}
    assert golden.left_out(a_kind(depth=2)) == {"depth": 2}


def test_fields_that_always_count_are_there() -> None:
    table = files("babelscope.core") / "keyed.csv"
    kinds = {kind.__name__: kind for kind in golden.reachable()}
    for entry in csv.DictReader(table.read_text(encoding="utf-8").splitlines()):
        assert entry["class"] in kinds
        assert set(entry["fields"].split()) <= kinds[entry["class"]].model_fields.keys(), entry["class"]


def test_no_two_declarations_share_a_name() -> None:
    """The table of fields that always count goes by it."""
    names = [kind.__name__ for kind in golden.reachable()]
    assert len(names) == len(set(names))
