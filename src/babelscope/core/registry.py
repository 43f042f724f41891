"""Open tables: a class enters its family's table when it is defined, so that a new kind of thing is one new file.

A package's folder of such files imports all of them (`import_modules`); other packages bring theirs by the entry
point `babelscope.plugins` (`core.plugins`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Self

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError, did_you_mean
from babelscope.core.plugins import import_plugins


class Registered(Declaration):
    """A declaration of one of several kinds, told apart by the value of one field.

    A family, such as `Operation`, names that field: `by: ClassVar[str] = "operation"`. Each of its subclasses that
    gives the field a value (`operation: Literal["reverse"] = "reverse"`) enters `Operation.kinds`.
    """

    by: ClassVar[str] = ""
    """The field that says which kind it is."""
    kinds: ClassVar[dict[str, type[Any]]] = {}
    """By that field's value, in the order in which they were defined."""
    revision: ClassVar[int] = 1
    """Raise it where what a kind computes has changed: then results with it have other keys."""

    @classmethod
    def __pydantic_init_subclass__(cls, **given: Any) -> None:
        """Start a family's table, or enter the class in it."""
        super().__pydantic_init_subclass__(**given)
        if "by" in vars(cls):
            cls.kinds = {}
        elif (field := cls.model_fields.get(cls.by)) and not field.is_required():
            other = cls.kinds.setdefault(field.default, cls)
            if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
                raise TypeError(f"{cls.by} {field.default}: {cls.__module__} and {other.__module__} both have one")
            cls.kinds[field.default] = cls

    @property
    def kind(self) -> str:
        """The value of the field that says which kind it is."""
        return str(getattr(self, self.by))

    @classmethod
    def all_kinds(cls) -> dict[str, type[Self]]:
        """All kinds by name, those that other packages bring among them."""
        import_plugins()
        return cls.kinds

    @classmethod
    def named(cls, kind: str) -> type[Self]:
        """The class of that kind.

        Raises:
            InputError: there is none; says which there are.
        """
        kinds = cls.all_kinds()
        if kind not in kinds:
            raise InputError(f"no {cls.by} is named {kind!r}{did_you_mean(kind, kinds)}; there are {', '.join(kinds)}")
        return kinds[kind]


def reader(family: type[Registered], parse: Callable[[str], Any] | None = None) -> Callable[[Any], Any]:
    """What reads a field of any kind of a family: `Annotated[SerializeAsAny[FAMILY], BeforeValidator(reader(...))]`.

    Text is given to `parse`, where there is one, which returns an instance, or a mapping with the field of the kind.
    The location of a fault inside has the kind, in angle brackets, before it.
    """

    def read(given: Any) -> Any:
        try:
            if isinstance(given, str) and parse:
                given = parse(given)
            if not isinstance(given, Mapping):
                return given
            if family.by not in given:
                raise InputError(f"{family.by} is missing; there are {', '.join(family.all_kinds())}")
            kind = family.named(str(given[family.by]))
        except InputError as error:
            raise ValueError(error.in_a_line) from None
        try:
            return kind.model_validate(given)
        except ValidationError as error:
            tag = f"<{given[family.by]}>"
            raise relocated(error, lambda place: (tag, *place)) from None

    return read


Place = tuple[int | str, ...]
"""Where in a declaration a fault is."""


def relocated(error: ValidationError, move: Callable[[Place], Place]) -> ValidationError:
    """The same faults in other places."""
    return ValidationError.from_exception_data(
        error.title, [_fault_at(move(fault["loc"]), fault) for fault in error.errors()]
    )


def _fault_at(place: Place, fault: Any) -> InitErrorDetails:
    kind = fault["type"]
    if kind == "value_error":
        kind = PydanticCustomError("value_error", "{problem}", {"problem": fault["msg"].removeprefix("Value error, ")})
    details = InitErrorDetails(type=kind, loc=place, input=fault["input"])
    return details if isinstance(kind, PydanticCustomError) else {**details, "ctx": fault.get("ctx", {})}


def import_modules(package: str, path: list[str]) -> None:
    """Import every module of a package's folder: `import_modules(__name__, __path__)` in its `__init__`."""
    for module in iter_modules(path):
        import_module(f"{package}.{module.name}")
