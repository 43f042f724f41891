"""The short form of operations and schedules: a name and, after a colon, arguments: `drop:last=6`, `freeze:4,lora=8`.

An argument is NAME=VALUE. The name of an argument that is true or false means true by itself (`frozen_dropout`). The
first argument may be a value alone, of the argument that has the same name as the whole (`freeze:4`). A comma begins a
new argument only where NAME= or such a word follows, so that values can hold commas. Numbers of a list are joined by
`+`, texts of a list by spaces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError, did_you_mean
from babelscope.core.registry import Registered
from babelscope.core.validation import in_words

D = TypeVar("D", bound=Declaration)
R = TypeVar("R", bound=Registered)
Fields = Mapping[str, FieldInfo]
"""What arguments a declaration takes, by name."""


def read_kind(text: str, family: type[R], what: str, listing: str) -> type[R]:
    """The kind of a family that a text names.

    Args:
        text: such as `drop:last=6`.
        family: of which the name is one.
        what: messages call it so: `operation`.
        listing: what lists all of them: `babelscope list surgeries`.

    Raises:
        InputError: there is no such kind; says which there are.
    """
    kinds = family.all_kinds()
    name = _name(text)
    if name not in kinds:
        known = f"{what.capitalize()}s are {', '.join(kinds)}; {listing} says what they do"
        raise InputError(f"{what} {text!r}: no such {what}{did_you_mean(name, kinds)}", known)
    return kinds[name]


def read_arguments(text: str, fields: Fields, what: str) -> dict[str, str | bool]:
    """The arguments in a text, by name; that they are known and allowed is not checked.

    Raises:
        InputError: a part of the text is no argument, or one is given twice.
    """
    name, rest = _name(text), text.partition(":")[2].strip()
    switches = [key for key, field in fields.items() if field.annotation is bool]
    arguments: dict[str, str | bool] = {}
    for place, part in enumerate(_split(rest, switches)):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and place == 0 and name in fields:
            key, equals, value = name, "=", key
        if not (key and equals) and key not in switches:
            raise InputError(
                f"{what} {text!r}: {part.strip()!r} is not an argument; expected NAME=VALUE", _advice(name, fields)
            )
        if key in arguments:
            raise InputError(f"{what} {text!r}: {key} is given twice")
        arguments[key] = value if equals else True
    return arguments


def declare(kind: type[D], given: Mapping[str, Any], text: str, fields: Fields, what: str) -> D:
    """The declaration that a text stands for.

    Raises:
        InputError: an argument is unknown, missing or not allowed; says which there are.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise InputError(f"{what} {text!r}: {_explained(error, fields)}", _advice(_name(text), fields)) from None


def arguments_of(kind: type[Registered]) -> dict[str, FieldInfo]:
    """The fields of a kind that can be given as arguments."""
    return {name: field for name, field in kind.model_fields.items() if name != kind.by}


def usage(fields: Fields) -> str:
    """Arguments, with the defaults that can be written."""
    defaults = {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
    return ", ".join(
        f"{name}={_written(value)}" if isinstance(value, str | int | float | tuple) else name
        for name, value in defaults.items()
    )


def write_text(name: str, arguments: Mapping[str, Any]) -> str:
    """The text that stands for a name with these arguments."""
    written = ",".join(f"{key}={_written(value)}" for key, value in arguments.items())
    return f"{name}:{written}" if written else name


def _name(text: str) -> str:
    return text.partition(":")[0].strip()


def _split(rest: str, switches: list[str]) -> list[str]:
    """The arguments, at the commas that NAME= or a word that means true follows."""
    word = "|".join(switches) or "(?!)"
    return re.split(rf",(?=\s*(?:[a-z]\w*\s*=|(?:{word})\s*(?:,|$)))", rest) if rest else []


def _advice(name: str, fields: Fields) -> str:
    return f"Arguments of {name}: {usage(fields) or 'none'}"


def _explained(error: ValidationError, fields: Fields) -> str:
    """What is wrong with the first argument that is at fault, in words."""
    first, *others = error.errors()
    name = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        return f"no argument {name!r}{did_you_mean(name, fields)}"
    if first["type"] == "missing":
        return f"{name} is missing"
    # An argument that can be of several types has a fault for each of them.
    faults = [first, *(fault for fault in others if fault["loc"][:1] == first["loc"][:1])]
    problems = dict.fromkeys(in_words(fault).replace("Input should be", "should be") for fault in faults)
    problem = " or ".join(problems).replace(" or should be ", " or ")
    given = first["input"]
    if problem.startswith("should") and isinstance(given, str):
        problem += f", not {given!r}"
    return f"{name}: {problem}" if name else problem


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, tuple):
        return str(value)
    return ("+" if all(isinstance(item, int) for item in value) else " ").join(map(str, value))
