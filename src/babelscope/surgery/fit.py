"""Whether operations suit an encoder, as far as its number of layers and its width say. Loads no torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from babelscope.core.errors import InputError
from babelscope.surgery.declare import Drop, OnPart, Operation, Permute, Repeat, Transplant, describe

Widths = Mapping[str, int | None]
"""Of donors' word embeddings, by the names that operations have for them; None: not known."""


def check_operations(
    name: str, operations: Sequence[Operation], layers: int | None, width: int | None, donors: Widths
) -> None:
    """Refuse operations that an encoder of so many layers, and of such a width, cannot have; None: not known."""
    for place, operation in enumerate(operations):
        with explained(operation):
            if isinstance(operation, Transplant) and operation.rows == "donor" and not operation.bridge:
                check_widths(width, donors.get(operation.donor))
            if layers is not None:
                layers = layers_after(operation, layers, name_after(name, operations[:place]))


@contextmanager
def explained(operation: Operation) -> Iterator[None]:
    """Begin what goes wrong inside with the operation."""
    try:
        yield
    except InputError as error:
        raise InputError(f"operation {operation}: {error.args[0]}", error.advice) from None


def name_after(name: str, done: Sequence[Operation]) -> str:
    """What messages call an encoder after some operations: what is said of it need not hold of the one given."""
    return f"{name} after {describe(done)}" if done else name


def layers_after(operation: Operation, count: int, name: str) -> int:
    """How many layers an encoder of `count` layers has after an operation; refuses layers that it does not have."""
    match operation:
        case Drop(last=last, every=every, layers=layers):
            return len(kept_layers(count, name, last, every, layers))
        case Repeat(layers=layers, times=times):
            return len(repeated_layers(count, name, layers, times))
        case Permute(order=order) if order is not None:
            check_order(order, count, name)
        case OnPart(layers=layers) if layers is not None:
            check_layers(layers, count, name)
    return count


def kept_layers(
    count: int, name: str, last: int | Literal["half"] | None, every: int | None, layers: Sequence[int] | None
) -> list[int]:
    """The layers that dropping leaves."""
    check_layers(layers or (), count, name)
    dropped = {*(layers or ()), *range(count - (count // 2 if last == "half" else last or 0), count)}
    dropped |= set(range(every - 1, count, every)) if every else set()
    kept = [layer for layer in range(count) if layer not in dropped]
    if not 0 < len(kept) < count:
        raise InputError(f"{name} has {count} layers; drop one at least, and keep one at least")
    return kept


def repeated_layers(count: int, name: str, layers: Sequence[int] | None, times: int) -> list[int]:
    """The layers, in order, with those that are repeated as often as they shall be there."""
    chosen = range(count) if layers is None else layers
    check_layers(chosen, count, name)
    return [layer for layer in range(count) for _ in range(times if layer in chosen else 1)]


def check_order(order: Sequence[int], count: int, name: str) -> None:
    """Refuse an order that does not have each layer once."""
    if sorted(order) != list(range(count)):
        given = "+".join(map(str, order))
        raise InputError(f"order {given} must have each of the {count} layers of {name} once, 0 to {count - 1}")


def check_layers(layers: Sequence[int], count: int, name: str) -> None:
    """Refuse layers that the encoder does not have."""
    if wrong := sorted(layer for layer in layers if not 0 <= layer < count):
        raise InputError(f"layer {wrong[0]}: {name} has {count} layers, 0 to {count - 1}")


def check_widths(own: int | None, given: int | None) -> None:
    """Refuse a donor's embeddings of another width where nothing maps them."""
    if own and given and own != given:
        raise InputError(
            f"the donor's embeddings have {given} dimensions, the encoder's {own}; give bridge=random or "
            "bridge=least-squares, or keep shared pieces with rows=overlap"
        )
