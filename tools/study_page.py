"""Print docs/studies.md, every key that a study can have, from the declarations and their docstrings: `make docs`."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeGuard, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import BeforeValidator
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from babelscope.core.declaration import Declaration
from babelscope.core.registry import Registered
from babelscope.measures import Measure
from babelscope.study.declare import Study
from babelscope.study.encoders import Adaptation, BringingIn, Pretraining

EXAMPLE = Path(__file__).parent.parent / "docs" / "study.yaml"
INTRODUCTION = """\
# Studies

A study is a page of YAML. This one, [study.yaml](study.yaml), has a bit of everything and needs no download:

```yaml
{example}```

    babelscope plan docs/study.yaml      # says what would run, or what is wrong
    babelscope run docs/study.yaml
    babelscope report docs/study.yaml -o shallow.html

Editors check and complete studies by [study.schema.json](study.schema.json), named in a file's first line:
`# yaml-language-server: $schema=study.schema.json`.

`--with` changes any key, by its path: `--with tasks.pos.sizes.train=99`. A key that is not below is an error. Errors
are told in two rounds: first all keys and values that cannot be; when these are right, all names that there are not and
all that does not go together. What is linked is a mapping with keys of its own; `NAME` in a path is a name that you
choose. Data sets are listed in [data.md](data.md); [surgery.md](surgery.md) says what operations promise, and
[tasks.md](tasks.md) how tasks are scored.
"""
LAST = (Pretraining, Adaptation, BringingIn)
"""What few studies spell out comes at the end of the page."""
APART = (Measure,)
"""Families whose kinds have a section each; the others have one for all."""
SCALARS = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`", NoneType: "`null`"}
BOUNDS = {Gt: "> {gt}", Ge: "≥ {ge}", Lt: "< {lt}", Le: "≤ {le}"}
LARGEST = 2**63
"""No number is larger, which goes without saying."""

Places = dict[type[Declaration], list[str]]


class Key(NamedTuple):
    """A line of a table."""

    key: str
    value: str
    default: str
    meaning: str


def page() -> str:
    """The page in Markdown."""
    places: Places = {}
    _walk(Study, "", places)
    sections = [part for kind, paths in places.items() for part in _section(kind, paths)]
    return "\n".join([INTRODUCTION.format(example=EXAMPLE.read_text(encoding="utf-8")), *sections])


def _walk(kind: type[Declaration], path: str, places: Places) -> None:
    """Note where a declaration and those inside it stand, in the order in which one writes them."""
    places.setdefault(kind, []).append(path)
    inside = [
        (f"{path}.{name}{between}".lstrip("."), inner)
        for name, field in kind.model_fields.items()
        for inner, between in _declared(field.annotation)
    ]
    inside += [(path, member) for member in _members(kind) if kind in APART]
    for where, inner in sorted(inside, key=lambda one: one[1] in LAST):
        _walk(inner, where, places)


def _declared(annotation: Any) -> Iterator[tuple[type[Declaration], str]]:
    """The declarations in a type, each with what stands in its path between the key and its own keys."""
    if _is_declaration(annotation):
        yield annotation, ""
    between = ".NAME" if get_origin(annotation) is dict else ""
    for option in _options(annotation):
        for kind, further in _declared(option):
            yield kind, between + further


def _options(annotation: Any) -> list[Any]:
    """The types inside a type; declarations of one family, such as operations, as their common base."""
    given = list(get_args(annotation))
    kinds = [option for option in given if _is_declaration(option)]
    shared = [base for base in kinds[0].__mro__ if all(issubclass(kind, base) for kind in kinds)] if kinds else []
    if not shared or shared[0] is Declaration:
        return given
    return [shared[0], *(option for option in given if option not in kinds)]


def _is_declaration(annotation: Any) -> TypeGuard[type[Declaration]]:
    return isinstance(annotation, type) and issubclass(annotation, Declaration)


def _section(kind: type[Declaration], paths: Iterable[str]) -> Iterator[str]:
    yield f"## {_title(kind)}\n"
    if where := ", ".join(_place(kind, path) for path in paths if path):
        yield f"At {where}.\n"
    yield f"{_doc(kind)}\n"
    members = _members(kind)
    yield from [_table(Key._fields, _keys(kind))] if members == [kind] else _family(kind, members)


def _place(kind: type[Declaration], path: str) -> str:
    """Where a declaration stands, and of a kind with its own section what says that it is meant."""
    family = next((family for family in APART if kind in _members(family)), None)
    return f"`{path}`, with `{family.by}: {_tag(kind, family)}`" if family else f"`{path}`"


def _tag(kind: type[Declaration], family: type[Registered]) -> str:
    return str(kind.model_fields[family.by].default)


def _members(kind: type[Declaration]) -> list[type[Declaration]]:
    """What a declaration can be: itself, one of the kinds of a family, or the last ones that derive from it."""
    if issubclass(kind, Registered) and "by" in vars(kind):
        return list(kind.all_kinds().values())
    return [last for derived in kind.__subclasses__() for last in _members(derived)] or [kind]


def _family(kind: type[Declaration], members: Sequence[type[Declaration]]) -> Iterator[str]:
    """A table of what there is to choose from, and one of all the keys of these."""
    tag = kind.by if issubclass(kind, Registered) else next(iter(kind.model_fields))
    names = {f"`{member.model_fields[tag].default}`": member for member in members}
    if kind in APART:
        lines = [(f"[{name}]({_anchor(member)})", _opening(member)) for name, member in names.items()]
        yield _table((tag, "meaning"), lines)
        return
    yield _table((tag, "meaning"), [(name, _in_a_line(_doc(member))) for name, member in names.items()])
    owners: dict[Key, list[str]] = {}
    for name, member in names.items():
        for key in _keys(member):
            owners.setdefault(key, []).append(name)
    lines = [(key.key, ", ".join(of), *key[1:]) for key, of in owners.items() if key.key != f"`{tag}`"]
    yield _table(("key", "of", *Key._fields[1:]), lines)


def _keys(kind: type[Declaration]) -> list[Key]:
    told = _docs_of_fields(kind)
    lines = []
    tags = {family.by for family in APART if kind in _members(family)}
    for name, field in kind.model_fields.items():
        if name in tags:
            continue
        value, default = _value(field.annotation, field.metadata), _default(field)
        if default == "`null`":
            value = value.removesuffix(f" or {default}")
        inner = next(_declared(field.annotation), None)
        meaning = told.get(name) or (_opening(inner[0]) if inner else "")
        lines.append(Key(f"`{name}`", value, default, _in_a_line(meaning)))
    return lines


def _value(annotation: Any, limits: Sequence[Any] = ()) -> str:
    """A type in words; of a value that is read as another, what is written."""
    written = (limit.json_schema_input_type for limit in limits if isinstance(limit, BeforeValidator))
    annotation = next((given for given in written if get_origin(given) in (Literal, Union, UnionType)), annotation)
    inside = get_args(annotation)
    filled = "non-empty " if any(isinstance(limit, MinLen) for limit in limits) else ""
    match get_origin(annotation):
        case origin if origin is Annotated:
            return _value(inside[0], [*limits, *_flat(inside[1:])])
        case origin if origin in (Union, UnionType):
            return " or ".join(_value(option) for option in _options(annotation))
        case origin if origin is Literal:
            return " or ".join(", ".join(f"`{choice}`" for choice in inside).rsplit(", ", 1))
        case origin if origin is dict:
            names = "names" if inside[0] is str else _value(inside[0])
            return f"{filled}mapping of {names} to {_value(inside[1])}"
        case origin if origin is tuple:
            count = "list of" if ... in inside else f"list of {len(inside)}"
            return f"{filled}{count} {_value(inside[0]).replace('number', 'numbers', 1)}"
    if _is_declaration(annotation):
        return f"[{_title(annotation)}]({_anchor(annotation)})"
    bounds = [BOUNDS[type(one)].format(**asdict(one)) for one in limits if type(one) in BOUNDS and one != Lt(LARGEST)]
    return f"{SCALARS[annotation]} {' and '.join(bounds)}".strip()


def _flat(limits: Iterable[Any]) -> Iterator[Any]:
    for limit in limits:
        yield from limit.metadata if isinstance(limit, FieldInfo) else [limit]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    given = field.get_default(call_default_factory=True)
    if isinstance(given, Declaration):
        given = given.model_dump(mode="json", exclude_defaults=True)
    return f"`{given if given and isinstance(given, str) else json.dumps(to_jsonable_python(given))}`"


def _docs_of_fields(kind: type[Declaration]) -> dict[str, str]:
    """The text below each of a declaration's fields; pydantic could keep it, but would slow every command down."""
    found = {}
    for base in reversed(kind.__mro__):
        if _is_declaration(base):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            for statement, below in pairwise(getattr(tree, "body", ())):
                match statement, below:
                    case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                        found[name] = _spoken(text)
    return found


def _title(kind: type[Declaration]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", " ", kind.__name__).capitalize()


def _anchor(kind: type[Declaration]) -> str:
    return f"#{_title(kind).lower().replace(' ', '-')}"


def _opening(kind: type[Declaration]) -> str:
    """The first paragraph of what is said of it."""
    return _in_a_line(_doc(kind).partition("\n\n")[0])


def _doc(kind: type[Declaration]) -> str:
    return _spoken(inspect.getdoc(kind) or "")


def _spoken(text: str) -> str:
    """A docstring for readers of YAML."""
    return re.sub(r"\bNone:", "`null`:", inspect.cleandoc(text))


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    cells = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in line] for line in lines)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


if __name__ == "__main__":
    print(page(), end="")
