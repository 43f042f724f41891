"""Keys that studies had before `measures`, which still work for one release; the changelog names their end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from babelscope.core.registry import relocated

T = TypeVar("T")

OLD_KEYS = {
    "retrieval": "retrieval",
    "projection": "projection",
    "vocabulary": "vocabulary",
    "costs": "cost",
    "similarities": "similarity",
    "interpolations": "interpolation",
    "angles": "angle",
    "comparisons": "comparison",
}
"""Old key -> the measure that it declares, one or a list of them."""


def with_measures(given: Any, validated: Callable[[Any], T]) -> T:
    """What `validated` makes of a study whose old keys stand among its measures, behind those that are given there.

    Faults in what an old key declares have that key in their path, beside the place among the measures.
    """
    if not isinstance(given, Mapping) or not OLD_KEYS.keys() & given.keys():
        return validated(given)
    declared = {name: value for name, value in given.items() if name not in OLD_KEYS}
    moved = list(_moved(given))
    measures = declared.get("measures", ())
    if not isinstance(measures, list | tuple):
        return validated(declared)
    names = {len(measures) + k: place for k, (place, _) in enumerate(moved)}
    try:
        return validated(declared | {"measures": [*measures, *(measure for _, measure in moved)]})
    except ValidationError as error:
        raise relocated(error, lambda place: _named(place, names)) from None


def _moved(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each measure that old keys declare, and where it stands there."""
    for key, measure in OLD_KEYS.items():
        value = given.get(key)
        if value is None or value in ([], ()):
            continue
        if key == "costs":
            yield key, {"measure": measure, "surgeries": value}
        elif not isinstance(value, list | tuple):
            yield key, _measure(measure, value)
        else:
            for k, declared in enumerate(value):
                yield f"{key}.{k}", _measure(measure, {"tasks": declared} if key == "angles" else declared)


def _measure(measure: str, declared: Any) -> Any:
    return {"measure": measure, **declared} if isinstance(declared, Mapping) else declared


def _named(place: tuple[int | str, ...], names: Mapping[int, str]) -> tuple[int | str, ...]:
    """The place of a fault, with the old key where there is one: `measures.0 (retrieval).sentences`."""
    if place[:1] == ("measures",) and len(place) > 1 and place[1] in names:
        return "measures", f"{place[1]} ({names[int(place[1])]})", *place[2:]
    return place
