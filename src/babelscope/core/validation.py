"""From what users write to declarations; what is wrong with it in words, each fault with its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from reprlib import Repr
from typing import Any, TypeVar, get_args, get_origin

from pydantic import ValidationError

from babelscope.core.declaration import Declaration
from babelscope.core.errors import StudyError, did_you_mean
from babelscope.core.registry import Registered

D = TypeVar("D", bound=Declaration)
T = TypeVar("T")

_GIVEN = Repr()
_GIVEN.maxlevel, _GIVEN.maxstring, _GIVEN.maxother = 2, 80, 80
"""Shows values in messages, cut short: aliases can make a small file stand for a value without end."""


def validate(kind: type[D], declared: Any, origin: str) -> D:
    """The declaration, or a `StudyError` that lists all faults with their paths."""
    return declare(lambda: kind.model_validate(declared), origin, kind)


def declare(make: Callable[[], T], origin: str, kind: type[Declaration]) -> T:
    """What `make` declares, or a `StudyError` that lists what is wrong with a declaration of that kind."""
    try:
        return make()
    except ValidationError as error:
        # A list whose items are all at fault also counts as too short.
        faults = [fault for fault in error.errors() if not (fault["type"] == "too_short" and fault["input"])]
        raise StudyError(origin, [_fault(kind, fault) for fault in faults]) from None


def _fault(kind: type[Declaration], fault: Any) -> str:
    """One fault in words: path, what was given, what is allowed."""
    location = [str(part) for part in fault["loc"]]
    if fault["type"] == "extra_forbidden":
        path, allowed = _located(kind, location[:-1])
        unknown = location[-1]  # which may look like a tag
        where = ".".join([*path, unknown])
        return f"{where}: unknown key{did_you_mean(unknown, allowed)}; allowed are {', '.join(allowed)}"
    path, _ = _located(kind, location)
    where = ".".join(path) or kind.__name__.lower()
    if fault["type"] == "missing":
        return f"{where}: missing"
    problem = in_words(fault)
    # What is wrong with a declaration as a whole names what it is about; all of it would hide that.
    whole = fault["type"] == "value_error" and isinstance(fault["input"], dict)
    given = "" if whole else f" (given: {_GIVEN.repr(fault['input'])})"
    return f"{where}: {problem}{given}"


def in_words(fault: Any) -> str:
    """What is wrong with a value, as pydantic tells it, in the words of those who write studies."""
    if template := _IN_WORDS.get(fault["type"]):
        return template.format(**fault.get("ctx", {}))
    return str(fault["msg"]).removeprefix("Value error, ")


_IN_WORDS = {
    "tuple_type": "should be a list, in brackets: [one] or [one, another]",
    "dict_type": "should be keys with values, such as {{key: value}}",
    "model_type": "should be keys with values, such as {{key: value}}",
    "too_short": "should have {min_length} or more entries",
    "too_long": "should have at most {max_length} entries",
    "int_parsing": "should be a whole number",
    "int_parsing_size": "should be a whole number with fewer digits",
    "int_type": "should be a whole number",
    "int_from_float": "should be a whole number",
    "float_parsing": "should be a number",
    "float_type": "should be a number",
    "string_type": "should be text",
    "string_unicode": "should be text that can be written as UTF-8",
    "string_pattern_mismatch": "should have no other characters than names have here, such as a space ({pattern})",
    "string_too_long": "should have at most {max_length} characters",
    "bool_parsing": "should be true or false",
    "bool_type": "should be true or false",
}
"""What YAML's users call things, by the type of a fault."""


def _located(kind: type[Declaration], location: list[str]) -> tuple[list[str], list[str]]:
    """The path of a location as the file has it, and the keys that are allowed in the innermost declaration there.

    Where a declaration can be of several kinds, the location has a tag that says of which one it is.
    """
    path: list[str] = []
    kinds, is_name = [kind], False
    for part in location:
        meant = [option for option in kinds if len(kinds) > 1 and _tag(option) == part] or _registered(kinds, part)
        if meant or part.startswith(("<", "[")):  # a tag; "the key"
            kinds = meant or kinds
            continue
        path.append(part)
        fields = [] if is_name else [option.model_fields[part] for option in kinds if part in option.model_fields]
        kinds = [inside for field in fields for inside in _declarations_in(field.annotation)] or kinds
        is_name = any(get_origin(field.annotation) is dict for field in fields)
    return path, sorted({name for option in kinds for name in option.model_fields})


def _registered(families: list[type[Declaration]], part: str) -> list[type[Declaration]]:
    """The kind that `<name>` in a location stands for, of those in a family's table."""
    tables = [family.kinds for family in families if issubclass(family, Registered)]
    return [table[part[1:-1]] for table in tables if part.startswith("<") and part[1:-1] in table]


def _tag(kind: type[Declaration]) -> str:
    """What says in a location that a declaration is of this kind."""
    return f"<{kind.__name__.lower()}>"


def _declarations_in(annotation: Any) -> Iterator[type[Declaration]]:
    if isinstance(annotation, type) and issubclass(annotation, Declaration):
        yield annotation
    for option in get_args(annotation):
        yield from _declarations_in(option)
