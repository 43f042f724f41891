"""The base of every frozen declaration: studies, steps and the values inside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, LiteralString, get_args

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
    def _no_sets_and_no_truth_as_number(cls, given: Any) -> Any:
        """What is trained on in another order is another training, and sets have the order of a process.

        Fields of numbers hold none where true is given: it is 1 in Python, and on in the mind of who wrote it.
        """
        if isinstance(given, dict):
            sets = [name for name, value in given.items() if isinstance(value, _SETS)]
            _refuse(cls, "should be a list, whose order counts, and not a set", given, sets)
            numbers = (name for name in _fields_of_numbers(cls) if name in given)
            wrong = [name for name in numbers if _some(given[name], _is_truth)]
            _refuse(cls, "should be a number, which true and false are not", given, wrong)
        return given

    def model_post_init(self, context: Any) -> None:
        """Files of rows hold no whole number of more than 64 bits; YAML has such numbers as text.

        A validator would look at a declaration again wherever it is put into another. A class with a `model_post_init`
        of its own calls this one.
        """
        own = vars(self)  # what is not looked at by name counts as unread
        wrong = [name for name in _fields_of_numbers(type(self)) if _some(own.get(name), _is_too_long)]
        _refuse(type(self), "should be a whole number of at most 64 bits", own, wrong)

    @property
    def known_as(self) -> str | None:
        """The name that stands for it in keys and files, where it is one of the package's own; None: its fields do."""
        return None


_SETS = (set, frozenset)
"""Made once: every field of every declaration is asked."""


def _refuse(kind: type[Declaration], problem: LiteralString, given: Mapping[str, Any], names: list[str]) -> None:
    """Raise a `ValidationError` of what is given for fields of these names, if there are any."""
    if names:
        fault = PydanticCustomError("value_error", problem)
        faults = [InitErrorDetails(type=fault, loc=(name,), input=given[name]) for name in names]
        raise ValidationError.from_exception_data(kind.__name__, faults)


@cache
def _fields_of_numbers(kind: type[Declaration]) -> tuple[str, ...]:
    """Those that are a number or hold some, and neither truth values nor declarations, which see to their own."""
    return tuple(name for name, field in kind.model_fields.items() if _is_of_numbers(field.annotation))


def _is_of_numbers(annotation: Any) -> bool:
    types = {part for part in _parts(annotation) if isinstance(part, type)}
    return bool(types & {int, float}) and bool not in types and not any(issubclass(part, Declaration) for part in types)


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in get_args(annotation):
        yield from _parts(inner)


def _some(value: Any, holds: Callable[[Any], bool], depth: int = 5) -> bool:
    """Whether it holds of the value, or of one in lists and mappings: no deeper than in any field."""
    if isinstance(value, dict | list | tuple):
        inner = value.values() if isinstance(value, dict) else value
        return depth > 0 and any(_some(part, holds, depth - 1) for part in inner)
    return holds(value)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_too_long(value: Any) -> bool:
    return isinstance(value, int) and value.bit_length() > 63
