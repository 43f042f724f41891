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
from babelscope.core.names import Name
from babelscope.core.registry import Registered
from babelscope.measures import Measure
from babelscope.study.declare import Study
from babelscope.study.encoders import Adaptation, BringingIn, Pretraining

EXAMPLE = Path(__file__).parent.parent / "docs" / "study.yaml"
INTRODUCTION = """\
# Studies

A study is a YAML file. This one, [study.yaml](study.yaml), has a bit of everything and needs no download:

```yaml
{example}```

    babelscope plan docs/study.yaml      # says what would run, or what is wrong
    babelscope run docs/study.yaml
    babelscope report docs/study.yaml -o shallow.html

- **To change a key** without editing the file, give its path: `--with tasks.pos.sizes.train=99`.
- **Editors** check and complete studies by [study.schema.json](study.schema.json). A file names it in its first line:
  `# yaml-language-server: $schema=study.schema.json`.
- **Errors** come in two rounds. The first round lists all unknown keys and all values that are not allowed. When there
  are none, the second round lists all names that do not exist, and all that does not go together.
- **More**: [data.md](data.md) lists the data sets, [surgery.md](surgery.md) says what operations promise, and
  [tasks.md](tasks.md) how tasks are scored.

This page has every key; any other key is an error. A link in the column *value* leads to a mapping with keys of its
own. `NAME` in a path is a name that you choose. The sections, with the places of their keys:

{contents}"""
LAST = (Pretraining, Adaptation, BringingIn)
"""What few studies spell out comes at the end of the page."""
APART = (Measure,)
"""Families whose kinds have a section each; the others have one for all."""
SCALARS = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`", NoneType: "`null`"}
BOUNDS = {Gt: ">", Ge: "≥", Lt: "<", Le: "≤"}
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
    contents = _table(("section", "place"), [(_link(kind), _where(kind, paths)) for kind, paths in places.items()])
    return "\n".join([INTRODUCTION.format(example=EXAMPLE.read_text(encoding="utf-8"), contents=contents), *sections])


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
    if any(paths):
        yield f"At {_where(kind, paths)}.\n"
    yield f"{_doc(kind)}\n"
    members = _members(kind)
    if members != [kind]:
        yield from _family(kind, members)
    elif keys := _keys(kind):
        yield _table(Key._fields, keys)
        yield from _further((f"`{name}`", text) for name, text in _docs_of_fields(kind).items())
    else:
        yield "It has no further keys.\n"


def _where(kind: type[Declaration], paths: Iterable[str]) -> str:
    """All places of a declaration, each once."""
    return ", ".join(dict.fromkeys(_place(kind, path) for path in paths if path)) or "the whole file"


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
        kinds = [(f"[{name}]({_anchor(member)})", _opening(member)) for name, member in names.items()]
        yield _table((tag, "meaning"), kinds)
        return
    yield _table((tag, "meaning"), [(name, _opening(member)) for name, member in names.items()])
    yield from _further((name, _doc(member)) for name, member in names.items())
    owners: dict[Key, list[str]] = {}
    for name, member in names.items():
        for key in _keys(member):
            owners.setdefault(key, []).append(name)
    lines = [(key.key, ", ".join(of), *key[1:]) for key, of in owners.items() if key.key != f"`{tag}`"]
    yield _table(("key", "of", *Key._fields[1:]), lines)
    keys = [(f"`{key}` of {name}", text) for name, of in names.items() for key, text in _docs_of_fields(of).items()]
    yield from _further(keys)


def _further(told: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Below a table, what is said of its entries after their first paragraphs."""
    for name, text in told:
        if further := text.partition("\n\n")[2]:
            yield f"{name}:\n\n{further}\n" if further.startswith("- ") else f"{name}: {further}\n"


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
        meaning = _first(told[name]) if name in told else _opening(inner[0]) if inner else ""
        lines.append(Key(f"`{name}`", value, default, meaning))
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
            names = "names" if inside[0] in (str, Name) else _value(inside[0])
            return f"{filled}mapping of {names} to {_value(inside[1])}"
        case origin if origin is tuple:
            count = "list of" if ... in inside else f"list of {len(inside)}"
            each = _value(inside[0])
            alone = f"({each})" if " or " in each else each
            return f"{filled}{count} {alone.replace('number', 'numbers', 1)}"
    if _is_declaration(annotation):
        return _link(annotation)
    bounds = [_bound(one) for one in limits if type(one) in BOUNDS and one != Lt(LARGEST)]
    return f"{SCALARS[annotation]} {' and '.join(bounds)}".strip()


def _bound(limit: Any) -> str:
    (number,) = asdict(limit).values()
    return f"{BOUNDS[type(limit)]} {int(number) if number == int(number) else number:,}"


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


def _link(kind: type[Declaration]) -> str:
    return f"[{_title(kind)}]({_anchor(kind)})"


def _anchor(kind: type[Declaration]) -> str:
    return f"#{_title(kind).lower().replace(' ', '-')}"


def _opening(kind: type[Declaration]) -> str:
    """The first paragraph of what is said of it."""
    return _first(_doc(kind))


def _doc(kind: type[Declaration]) -> str:
    return _spoken(inspect.getdoc(kind) or "")


def _spoken(text: str) -> str:
    """A docstring for readers of YAML."""
    return re.sub(r"\bNone:", "`null`:", inspect.cleandoc(text))


def _first(text: str) -> str:
    """Its first paragraph, in a line."""
    return " ".join(text.partition("\n\n")[0].split())


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    cells = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in line] for line in lines)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


if __name__ == "__main__":
    print(page(), end="")
