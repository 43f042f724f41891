"""The base of every frozen declaration: studies, steps and the values inside them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, LiteralString, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

Count = Annotated[int, Field(gt=0, le=1_000_000)]
"""How many of what is held in memory: examples, sentences that are measured, pieces. A million is as good as all."""


class Declaration(BaseModel):
    """An immutable, hashable value; unknown keys are refused."""

    # Texts that have a greatest length are also checked to be ones that UTF-8 can hold.
    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False, str_max_length=1_000_000
    )

    @model_validator(mode="before")
    @classmethod
    def _no_truth_as_number(cls, given: Any) -> Any:
        """Fields of numbers hold none where true is given: it is 1 in Python, and on in the mind of who wrote it."""
        fields = given.items() if isinstance(given, dict) else ()
        wrong = [
            (name, value)
            for name, value in fields
            if name in cls.model_fields
            and _is_of_numbers(cls, name)
            and any(isinstance(n, bool) for n in _inside(value))
        ]
        _refuse(cls, "should be a number, which true and false are not", wrong)
        return given

    @model_validator(mode="after")
    def _no_number_beyond_files(self) -> Self:
        """Files of rows hold no whole number of more than 64 bits; YAML has such numbers as text."""
        own = vars(self)  # what is not looked at by name counts as unread
        fields = [(name, own[name]) for name in type(self).model_fields if _is_of_numbers(type(self), name)]
        wrong = [(name, v) for name, v in fields if any(isinstance(n, int) and n.bit_length() > 63 for n in _inside(v))]
        _refuse(type(self), "should be a whole number of at most 64 bits", wrong)
        return self

    @property
    def known_as(self) -> str | None:
        """The name that stands for it in keys and files, where it is one of the package's own; None: its fields do."""
        return None


def _refuse(kind: type[Declaration], problem: LiteralString, fields: list[tuple[str, Any]]) -> None:
    """Raise a `ValidationError` of fields, by their names, if there are any."""
    fault = PydanticCustomError("value_error", problem)
    if fields:
        faults = [InitErrorDetails(type=fault, loc=(name,), input=value) for name, value in fields]
        raise ValidationError.from_exception_data(kind.__name__, faults)


@cache
def _is_of_numbers(kind: type[Declaration], field: str) -> bool:
    """Whether a field is a number or holds some, and neither truth values nor declarations, which see to their own."""
    types = {part for part in _parts(kind.model_fields[field].annotation) if isinstance(part, type)}
    return bool(types & {int, float}) and bool not in types and not any(issubclass(part, Declaration) for part in types)


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in get_args(annotation):
        yield from _parts(inner)


def _inside(value: Any, depth: int = 5) -> Iterator[Any]:
    """What is in lists and mappings, or the value itself; not what is nested deeper than any field, or in itself."""
    if not isinstance(value, dict | list | tuple):
        yield value
    elif depth:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _inside(inner, depth - 1)
