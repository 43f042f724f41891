"""Which fields of a declaration count in a key: those without a default, and those that have another value.

A field that says of which kind the declaration is (a `Literal` of one value) always counts. Keys
that were made before this rule hold some fields at their defaults, too; `keyed.csv` lists them by class, once
and for all: a class or field that comes after it needs no entry.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from babelscope.core.declaration import Declaration


def keyed_fields(declared: Declaration) -> Iterator[tuple[str, Any]]:
    """Names and values of the fields that count."""
    always = _always().get(type(declared).__name__, frozenset())
    fields = type(declared).model_fields
    for name, value in dict(declared).items():
        if name in always or _names_the_kind(fields[name]) or not _is_default(fields[name], value):
            yield name, value


def _names_the_kind(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1


def _is_default(field: FieldInfo, value: Any) -> bool:
    return not field.is_required() and value == field.get_default(call_default_factory=True)


@cache
def _always() -> dict[str, frozenset[str]]:
    """Class -> the fields that count at their defaults, too."""
    table = files("babelscope.core") / "keyed.csv"
    lines = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    return {line["class"]: frozenset(line["fields"].split()) for line in lines}
