"""Operations one after the other: done, described, and checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, overload

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.encoders.places import display_name
from babelscope.surgery.operation import Operation, parse_operation

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from babelscope.encoders.given import Buildable
    from babelscope.encoders.load import Encoder

    Operations = str | Operation | Sequence[str | Operation]
    Donors = Mapping[str, Encoder | Buildable]


@overload
def apply(
    encoder: Encoder | Buildable, operations: Operations, seed: int = 0, donors: Donors | None = None
) -> Encoder: ...


@overload
def apply(
    encoder: PreTrainedModel, operations: Operations, seed: int = 0, donors: Donors | None = None
) -> PreTrainedModel: ...


def apply(
    encoder: Encoder | Buildable | PreTrainedModel, operations: Operations, seed: int = 0, donors: Donors | None = None
) -> Encoder | PreTrainedModel:
    """The encoder after all operations, one after the other; the given one is not touched.

    Args:
        encoder: with its tokenizer, or what `babelscope.load` gives; or a model of transformers, an encoder alone or
            with its masked language model head, for operations that need no tokenizer. Its pooler is left out.
        operations: one, or several in the order in which they are done; each a value, or text such as `drop:last=6`.
        seed: the first operation draws with it, each later one with a seed derived from it and its place.
        donors: the encoders that operations name as theirs, by that name.

    Returns:
        A model if a model was given, else an encoder with its tokenizer.

    Raises:
        InputError: an operation cannot be read, does not suit the encoder, leaves weights that are NaN or infinite, or
            its donor is not given; or the seed is no whole number from 0.
    """
    from transformers import PreTrainedModel

    from babelscope.encoders.given import as_encoder

    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed={seed!r:.100}: should be a whole number from 0")
    given = [operations] if isinstance(operations, str | Operation) else operations
    sequence = [parse_operation(item) if isinstance(item, str) else item for item in given]
    operated, given_donors = as_encoder(encoder), {name: as_encoder(donor) for name, donor in (donors or {}).items()}
    name = operated.name
    for place, operation in enumerate(sequence):
        own_seed = derive_seed(seed, "operation", place) if place else seed
        by_then = replace(operated, name=_name_after(name, sequence[:place]))
        with _explained(operation):
            operated = operation.apply(by_then, own_seed, _own_donors(operation, given_donors))
            _check_finite(operated)
    return operated.model if isinstance(encoder, PreTrainedModel) else replace(operated, name=name)


def describe(operations: Iterable[Operation]) -> str:
    """A sequence of operations in one line, in the order in which they are done."""
    return "; ".join(map(str, operations))


def donors_of(operations: Iterable[Operation]) -> list[str]:
    """The donors that operations name, each once."""
    return list(dict.fromkeys(name for operation in operations for name in operation.donors))


def check_operations(
    name: str,
    operations: Sequence[Operation],
    layers: int | None,
    width: int | None,
    donor_widths: Mapping[str, int | None],
) -> None:
    """Refuse operations that an encoder cannot have, as far as can be seen before anything is computed.

    Args:
        name: what messages call the encoder.
        operations: in the order in which they are done.
        layers: how many the encoder has; None: not known.
        width: of its word embeddings; None: not known.
        donor_widths: of those of the donors, by the names that operations have for them.

    Raises:
        InputError: begins with the operation that does not suit.
    """
    for place, operation in enumerate(operations):
        with _explained(operation):
            operation.check(width, donor_widths)
            if layers is not None:
                layers = operation.layers_after(layers, _name_after(name, operations[:place]))


def count_layers(operations: Iterable[Operation], layers: int | None) -> int | None:
    """How many layers an encoder of so many has after all operations; None: not known, or they do not suit it."""
    try:
        for operation in operations:
            layers = None if layers is None else operation.layers_after(layers, "")
    except InputError:
        return None
    return layers


def _own_donors(operation: Operation, donors: Mapping[str, Encoder]) -> dict[str, Encoder]:
    """The donors that an operation names, with the names that rows have."""
    for name in operation.donors:
        if name not in donors:
            raise InputError(f"the donor {name} is not given")
    return {name: replace(donors[name], name=display_name(name)) for name in operation.donors}


def _check_finite(encoder: Encoder) -> None:
    from babelscope.encoders.state import weights_of
    from babelscope.encoders.written import non_finite

    if problem := non_finite(weights_of(encoder)):
        raise InputError(f"{problem} after it; give smaller numbers, or an encoder whose weights are finite")


@contextmanager
def _explained(operation: Operation) -> Iterator[None]:
    """Begin what goes wrong inside with the operation."""
    try:
        yield
    except InputError as error:
        raise InputError(f"operation {operation}: {error.args[0]}", error.advice) from None


def _name_after(name: str, done: Sequence[Operation]) -> str:
    """What messages call an encoder after some operations: what is said of it need not hold of the one given."""
    return f"{name} after {describe(done)}" if done else name
