"""What all operations have in common, and how they are read from text: `reverse`, `drop:last=6`.

The grammar of the text is that of `core.grammar`. Layers are numbered from 0 and joined by `+`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, SerializeAsAny, model_validator

from babelscope.core.grammar import arguments_of, declare, read_arguments, read_kind, write_text
from babelscope.core.registry import Registered, reader
from babelscope.surgery.fields import IN_LAYERS, Layers, Part, check_layers

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Operation(Registered):
    """A change of an encoder's weights, as a mapping (`{operation: drop, last: 6}`) or as text (`drop:last=6`)."""

    by: ClassVar[str] = "operation"
    takes_seed: ClassVar[bool] = False
    """Whether chance can have a part in it."""
    operation: str

    @property
    def seeded(self) -> bool:
        """Whether chance has a part in it, with these arguments."""
        return self.takes_seed

    @property
    def donors(self) -> tuple[str, ...]:
        """The encoders that it takes something from, by name."""
        return ()

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        """The operated encoder; the given one is not touched. Torch is imported here, not at the top.

        Args:
            encoder: what is operated on.
            seed: decides all that is drawn.
            donors: has every encoder that `donors` names.

        Raises:
            InputError: the operation does not suit the encoder.
        """
        raise NotImplementedError

    def layers_after(self, count: int, name: str) -> int:
        """How many layers an encoder of `count` layers has afterwards.

        Raises:
            InputError: the encoder, which messages call `name`, does not have the layers that are named.
        """
        return count

    def check(self, width: int | None, donor_widths: Mapping[str, int | None]) -> None:
        """Refuse what can be seen before anything is computed.

        Args:
            width: of the encoder's word embeddings; None: not known.
            donor_widths: of those of the donors, by name.

        Raises:
            InputError: the operation does not suit them.
        """

    def __str__(self) -> str:
        """As text, which `parse_operation` reads; arguments that have their defaults are left out."""
        given = {name: getattr(self, name) for name in arguments_of(type(self))}
        fields = type(self).model_fields
        return write_text(self.kind, {name: value for name, value in given.items() if value != fields[name].default})


class OnPart(Operation):
    """The base of operations on a part of the weights, by default on all; with `layers`, only on what is in them."""

    part: Part = "all"
    """The part that is changed. `head` is the masked language model head, and the pooler."""
    layers: Layers | None = None
    """Only the part of these layers is changed, counted from 0; None: the part of all layers."""

    @model_validator(mode="after")
    def _inside(self) -> OnPart:
        if self.layers is not None and self.part not in IN_LAYERS:
            raise ValueError(f"{self.part} are outside the layers; with layers, part is one of {', '.join(IN_LAYERS)}")
        return self

    def layers_after(self, count: int, name: str) -> int:
        """As many; the layers that are named must be there."""
        check_layers(self.layers or (), count, name)
        return count


def parse_operation(text: str) -> Operation:
    """Read an operation from text.

    Raises:
        InputError: no such operation or argument, or a value that is not allowed; says what is.
    """
    kind = read_kind(text, Operation, "operation", "babelscope list surgeries")
    fields = arguments_of(kind)
    given = {"operation": kind.model_fields["operation"].default, **read_arguments(text, fields, "operation")}
    return declare(kind, given, text, fields, "operation")


AnyOperation = Annotated[SerializeAsAny[Operation], BeforeValidator(reader(Operation, parse_operation))]
"""A field of this type takes an operation as a mapping (`{operation: drop, last: 6}`) or as text (`drop:last=6`)."""
