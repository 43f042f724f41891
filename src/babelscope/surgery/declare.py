"""Operations as declared values, in YAML or as text: `reverse`, `drop:last=6`, `reinit:part=attention,layers=0+1`.

An operation's name comes first, its arguments after a colon, separated by commas. Layers are numbered from 0 and
joined by `+`. Patterns of pieces are separated by spaces. Loads no torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    BeforeValidator,
    Field,
    PositiveInt,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.surgery.fields import ENGLISH_LIKE, IN_LAYERS, Layers, Part, Patterns


class Operation(Declaration):
    """A change of an encoder's weights: a mapping (`{operation: drop, last: 6}`), or as text (`drop:last=6`)."""

    takes_seed: ClassVar[bool] = False
    """Whether chance can have a part in it."""
    operation: str

    @property
    def seeded(self) -> bool:
        """Whether chance has a part in it, with these arguments."""
        return self.takes_seed

    @property
    def arguments(self) -> dict[str, Any]:
        """All arguments by name."""
        return {name: getattr(self, name) for name in type(self).model_fields if name != "operation"}

    def __str__(self) -> str:
        """As text, which `parse_operation` reads; arguments that have their defaults are left out."""
        fields = type(self).model_fields
        given = {name: value for name, value in self.arguments.items() if value != fields[name].default}
        text = ",".join(f"{name}={_written(value)}" for name, value in given.items())
        return f"{self.operation}:{text}" if text else self.operation


class OnPart(Operation):
    """The base of operations on a part of the weights, by default on all; with `layers`, only on what is in them."""

    part: Part = "all"
    """What is changed; `head` is the masked language model's, and the pooler."""
    layers: Layers | None = None
    """Only what is in these, counted from 0; None: in all."""

    @model_validator(mode="after")
    def _inside(self) -> OnPart:
        if self.layers is not None and self.part not in IN_LAYERS:
            raise ValueError(f"{self.part} are outside the layers; with layers, part is one of {', '.join(IN_LAYERS)}")
        return self


class Reinit(OnPart):
    """Draw weights anew by the model's own initialiser."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["reinit"] = "reinit"


class Rescale(OnPart):
    """Draw weights anew, scaled to the magnitude (mean absolute value) or variance that each tensor had."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["rescale"] = "rescale"
    match: Literal["magnitude", "variance"] = "magnitude"


class Oracle(OnPart):
    """Permute the elements within each tensor, so that only their distribution stays."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["oracle"] = "oracle"


class Noise(OnPart):
    """Add Gaussian noise whose standard deviation is `share` of each tensor's own."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["noise"] = "noise"
    share: Annotated[float, Field(gt=0)] = 0.1


class Quantise(OnPart):
    """Round each tensor to 2**bits - 1 values, evenly spaced and symmetric about 0."""

    operation: Literal["quantise"] = "quantise"
    bits: Annotated[int, Field(ge=2, le=16)] = 8


class Graft(OnPart):
    """Take a part from a donor of the same family and shape."""

    operation: Literal["graft"] = "graft"
    donor: str = Field(min_length=1)


class Shuffle(Operation):
    """Permute which piece has which word embedding; special pieces keep theirs.

    Pieces that match one of `classes` (the first, as a whole) change places only among themselves; so do the rest.
    """

    takes_seed: ClassVar[bool] = True
    operation: Literal["shuffle"] = "shuffle"
    classes: Patterns = (ENGLISH_LIKE,)

    @field_validator("classes")
    @classmethod
    def _are_patterns(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in classes:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
        return classes


class Transplant(Operation):
    """Take a donor's tokenizer, and word embeddings for its pieces.

    `rows`: `donor` takes the donor's embeddings; `overlap` keeps the encoder's own for pieces that both have and
    draws the others anew. `bridge` maps the donor's embeddings, which it must where the widths differ: by a `random`
    projection, or by `least-squares` over the pieces that both have.
    """

    takes_seed: ClassVar[bool] = True
    operation: Literal["transplant"] = "transplant"
    donor: str = Field(min_length=1)
    rows: Literal["donor", "overlap"] = "donor"
    bridge: Literal["random", "least-squares"] | None = None

    @property
    def seeded(self) -> bool:
        """New rows are drawn, and the random bridge."""
        return self.rows == "overlap" or self.bridge == "random"

    @model_validator(mode="after")
    def _bridge_has_a_use(self) -> Transplant:
        if self.rows == "overlap" and self.bridge:
            raise ValueError("with rows=overlap no embedding comes from the donor, so there is nothing to bridge")
        return self


class Reverse(Operation):
    """Put the layers in reverse order."""

    operation: Literal["reverse"] = "reverse"


class Drop(Operation):
    """Remove layers: the `last` ones (a number or `half`), every n-th (`every=2`: layers 1, 3, ...), or a list."""

    operation: Literal["drop"] = "drop"
    last: PositiveInt | Literal["half"] | None = None
    every: Annotated[int, Field(ge=2)] | None = None
    layers: Layers | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Drop:
        if sum(given is not None for given in (self.last, self.every, self.layers)) != 1:
            raise ValueError("give one of last, every and layers, such as drop:last=6")
        return self


class Permute(Operation):
    """Put the layers in another order: `order=2+0+1` puts layer 2 first; without `order`, chance decides."""

    takes_seed: ClassVar[bool] = True
    operation: Literal["permute"] = "permute"
    order: Layers | None = None

    @property
    def seeded(self) -> bool:
        """Only an order that is not given is drawn."""
        return self.order is None


class Repeat(Operation):
    """Repeat layers in place, `times` in all: of layers 0 and 1, `repeat` makes 0, 0, 1, 1."""

    operation: Literal["repeat"] = "repeat"
    layers: Layers | None = None
    times: Annotated[int, Field(ge=2)] = 2


_Kind = Reinit | Rescale | Oracle | Shuffle | Transplant | Reverse | Drop | Permute | Repeat | Graft | Noise | Quantise
OPERATIONS: dict[str, type[Operation]] = {kind.model_fields["operation"].default: kind for kind in get_args(_Kind)}
"""Every operation by its name."""

_Operation = Annotated[_Kind, Field(discriminator="operation")]
_ADAPTER: TypeAdapter[Operation] = TypeAdapter(_Operation)


def parse_operation(text: str) -> Operation:
    """Read an operation from text.

    Raises:
        InputError: no such operation or argument, or a value that is not allowed; says what is.
    """
    fields = _fields(text)
    try:
        return _ADAPTER.validate_python(fields)
    except ValidationError as error:
        raise InputError(f"operation {text!r}: {_fault(error)}", _usage(fields["operation"])) from None


def _fields(text: str) -> dict[str, str]:
    """The fields that a text declares."""
    name, _, rest = text.partition(":")
    fields = {"operation": name.strip()}
    for argument in re.split(r",(?=\s*[a-z]+=)", rest) if rest else ():
        key, equals, value = argument.strip().partition("=")
        if not (key and equals):
            raise InputError(f"operation {text!r}: {argument!r} is not an argument; expected NAME=VALUE")
        if key in fields:
            raise InputError(f"operation {text!r}: {key} is given twice")
        fields[key] = value
    return fields


def _read(given: Any) -> Any:
    """An operation given as text; anything else is left to validation."""
    try:
        return parse_operation(given) if isinstance(given, str) else given
    except InputError as error:
        raise ValueError(". ".join(filter(None, (error.args[0], error.advice)))) from None


AnyOperation = Annotated[_Operation, BeforeValidator(_read)]
"""A field of this type takes an operation as a mapping (`{operation: drop, last: 6}`) or as text (`drop:last=6`)."""


def describe(operations: Iterable[Operation]) -> str:
    """A sequence of operations in one line, in the order in which they are done."""
    return "; ".join(map(str, operations))


def donors_of(operations: Sequence[Operation]) -> list[str]:
    """The donors that operations name, each once."""
    names = (operation.arguments.get("donor") for operation in operations)
    return list(dict.fromkeys(name for name in names if name))


def usage(kind: type[Operation]) -> str:
    """An operation's arguments, with defaults."""
    fields = {name: field.get_default() for name, field in kind.model_fields.items() if name != "operation"}
    with_default = {name for name, value in fields.items() if isinstance(value, str | int | float | tuple)}
    return ", ".join(f"{name}={_written(value)}" if name in with_default else name for name, value in fields.items())


def _usage(name: str) -> str:
    if name not in OPERATIONS:
        return f"Operations are {', '.join(OPERATIONS)}"
    return f"Arguments of {name}: {usage(OPERATIONS[name]) or 'none'}"


def _fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    if fault["type"] == "union_tag_invalid":
        return "no such operation"
    if fault["type"] == "extra_forbidden":
        return f"no argument {fault['loc'][-1]!r}"
    if fault["type"] == "missing":
        return f"{fault['loc'][-1]} is missing"
    key = f"{fault['loc'][1]}: " if len(fault["loc"]) > 1 else ""
    return key + fault["msg"].removeprefix("Value error, ").replace("Input should be", "should be")


def _written(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return ("+" if all(isinstance(one, int) for one in value) else " ").join(map(str, value))
