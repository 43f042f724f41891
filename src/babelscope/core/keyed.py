"""Which fields of a declaration count in a key: those without a default, and those that have another value.

A field that says of which kind the declaration is (a `Literal` of one value) always counts, and so does the `revision`
of the kind's class (`core.registry`) from the second on. Keys
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
    for name, always, default in _fields(type(declared)):
        value = getattr(declared, name)
        if always or not (value is default or value == default):
            yield name, value
    if _has_revision(kind := type(declared)) and (revision := getattr(kind, "revision", 1)) != 1:
        yield "revision", revision  # of code that others bring, which fields do not show


@cache
def _fields(kind: type[Declaration]) -> tuple[tuple[str, bool, Any], ...]:
    """Of every field of a class its name, whether it always counts, and its default."""
    always = _always().get(kind.__name__, frozenset())
    return tuple(
        (name, name in always or field.is_required() or _names_the_kind(field), field.get_default())
        for name, field in kind.model_fields.items()
    )


@cache  # pydantic's classes are slow to tell that they lack an attribute
def _has_revision(kind: type[Declaration]) -> bool:
    return hasattr(kind, "revision")


def _names_the_kind(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1


@cache
def _always() -> dict[str, frozenset[str]]:
    """Class -> the fields that count at their defaults, too."""
    table = files("babelscope.core") / "keyed.csv"
    lines = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    return {line["class"]: frozenset(line["fields"].split()) for line in lines}
