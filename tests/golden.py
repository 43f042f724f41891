"""What keys are made of, recorded: `python tests/golden.py` writes the records in `data/golden` anew.

Results are found by their keys, so a key that moves loses them. Record anew only what was meant to change.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args
from unittest import mock

from babelscope.core import step as step_module
from babelscope.core.declaration import Declaration
from babelscope.core.keyed import keyed_fields
from babelscope.core.step import STEPS, Step
from babelscope.steps.plan import Plan
from babelscope.studies import STUDIES, find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import load_study

FOLDER = Path(__file__).parent / "data" / "golden"
WIDE = "study.yaml"
"""A study of the folder, with something of every kind that counts in a key."""
STUDIES_FILE, EXAMPLES_FILE, DEFAULTS_FILE = (FOLDER / f"{name}.json" for name in ("studies", "examples", "defaults"))


@cache
def plan_of(label: str) -> Plan:
    """Of a built-in study, such as `first-look` or `first-look small`, or of the folder's own."""
    if label == WIDE:
        with mock.patch.dict(os.environ, {"BABELSCOPE_DATA": str(FOLDER)}):
            return compile_study(load_study(FOLDER / WIDE))
    name, _, small = label.partition(" ")
    return compile_study(find_study(name, {"scale": "small"} if small else {}))


def summary(plan: Plan) -> dict[str, Any]:
    """How many steps a plan has, and one number for all of their keys."""
    return {"steps": len(plan.steps), "sha256": hashlib.sha256("\n".join(sorted(plan.steps)).encode()).hexdigest()}


def all_steps(plan: Plan) -> list[Step]:
    """The steps of a plan with those inside them that are not stored, each once."""
    steps: dict[str, Step] = {}
    for step in plan.steps.values():
        steps |= {inner.key: inner for inner in declarations(step) if isinstance(inner, Step)}
    return list(steps.values())


def declarations(value: Any) -> Iterator[Declaration]:
    """A declaration and all that are inside it, inner ones first."""
    match value:
        case Declaration():
            for _, inner in value:
                yield from declarations(inner)
            yield value
        case tuple():
            for inner in value:
                yield from declarations(inner)
        case dict():
            yield from declarations(tuple(value.values()))


def hashed(step: Step) -> dict[str, Any]:
    """What a step's key is the hash of."""
    fresh = step.model_copy()
    with mock.patch.object(step_module, "text_digest", side_effect=step_module.text_digest) as digest:
        vars(fresh).pop("key", None)
        _ = fresh.key
    value: dict[str, Any] = json.loads(digest.call_args.args[0])
    return value


def examples_now() -> list[dict[str, Any]]:
    """The record of steps: one of each kind, and one for each kind of declaration that may be inside."""
    covered: set[str] = set()
    chosen = []
    for step in all_steps(plan_of(WIDE)):
        kinds = {type(inner).__name__ for inner in own_declarations(step)}
        if not kinds <= covered:
            covered |= kinds
            chosen.append({"key": step.key, "hashed": hashed(step)})
    return chosen


def own_declarations(step: Step) -> Iterator[Declaration]:
    """The step, and the declarations in it that are in no other step."""
    yield step
    for _, value in step:
        for inner in value if isinstance(value, tuple) else (value,):
            if not isinstance(inner, Step):
                yield from declarations(inner)


def reachable() -> dict[type[Declaration], set[str]]:
    """Every declaration that can be part of a key, and what it is derived from -> the kinds of step that have it.

    Those inside a step's inputs do not count.
    """
    users: dict[type[Declaration], set[str]] = {}
    for name, kind in STEPS.items():
        if _is_ours(kind):
            inside = _inside([field.annotation for field in kind.model_fields.values()], {kind})
            for base in {base for inner in inside for base in inner.__mro__ if _is_ours(base)}:
                users.setdefault(base, set()).add(name)
    return users


def _inside(annotations: Iterable[Any], seen: set[type[Declaration]]) -> set[type[Declaration]]:
    """The declarations that are no steps and that annotations name, with those derived from them or inside them."""
    for annotation in annotations:
        _inside(get_args(annotation), seen)
        if _is_ours(annotation) and not issubclass(annotation, Step) and annotation not in seen:
            seen.add(annotation)
            _inside([field.annotation for field in annotation.model_fields.values()], seen)
            _inside(annotation.__subclasses__(), seen)
    return seen


def _is_ours(kind: Any) -> bool:
    """Whether it is a declaration, and neither a test's nor another package's.

    A class whose module a test has taken out again may live on among its base's subclasses.
    """
    if not (isinstance(kind, type) and issubclass(kind, Declaration) and kind.__module__.startswith("babelscope.")):
        return False
    return getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind


def left_out(kind: type[Declaration]) -> dict[str, Any]:
    """The declaration's own fields that do not count at their defaults, with these; inherited ones are its base's."""
    fields = {name: field for name, field in kind.model_fields.items() if not field.is_required()}
    defaults = {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
    # With every field at its default, those that a key is made of are the ones that always count.
    required = dict.fromkeys(kind.model_fields.keys() - fields.keys())
    counting = {name for name, _ in keyed_fields(kind.model_construct(**required, **defaults))}
    unkeyed = kind.unkeyed if issubclass(kind, Step) else frozenset()
    own = inspect.get_annotations(kind).keys() - counting - unkeyed
    return {name: _as_json(value) for name, value in defaults.items() if name in own}


def _as_json(value: Any) -> Any:
    plain = value.model_dump(mode="json") if isinstance(value, Declaration) else value
    return json.loads(json.dumps(plain, default=str))


def studies_now() -> dict[str, Any]:
    """The record of plans, of studies that need no data of others."""
    labels = [
        f"{name}{scale}" for name, study in STUDIES.items() if "world" in study.profiles for scale in ("", " small")
    ]
    return {label: summary(plan_of(label)) for label in (*labels, WIDE)}


def defaults_now() -> dict[str, Any]:
    """The record of defaults: of every class that has fields which keys leave out."""
    found = {kind.__name__: left_out(kind) for kind in reachable()}
    return {name: found[name] for name in sorted(found) if found[name]}


def line(name: str, value: Any) -> str:
    """An entry of a record; each has a line of its own, so that a difference is read with ease."""
    return f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"


def _write(path: Path, record: dict[str, Any]) -> None:
    text = ",\n".join(line(name, value) for name, value in record.items())
    path.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    os.chdir(FOLDER)  # files are named from there
    _write(STUDIES_FILE, studies_now())
    EXAMPLES_FILE.write_text(json.dumps(examples_now(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    _write(DEFAULTS_FILE, defaults_now())
