"""Operations in a declared order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.encoders.load import Encoder
from babelscope.encoders.places import display_name
from babelscope.surgery.declare import Operation
from babelscope.surgery.drop import drop
from babelscope.surgery.fit import explained, name_after
from babelscope.surgery.graft import graft
from babelscope.surgery.noise import noise
from babelscope.surgery.oracle import oracle
from babelscope.surgery.permute import permute
from babelscope.surgery.quantise import quantise
from babelscope.surgery.reinit import reinit
from babelscope.surgery.repeat import repeat
from babelscope.surgery.rescale import rescale
from babelscope.surgery.reverse import reverse
from babelscope.surgery.shuffle import shuffle
from babelscope.surgery.transplant import transplant

FUNCTIONS: dict[str, Callable[..., Encoder]] = {
    "reinit": reinit, "rescale": rescale, "oracle": oracle, "shuffle": shuffle, "transplant": transplant,
    "reverse": reverse, "drop": drop, "permute": permute, "repeat": repeat, "graft": graft, "noise": noise,
    "quantise": quantise,
}  # fmt: skip
"""What computes each operation of `declare.OPERATIONS`."""


def operate(
    encoder: Encoder, operations: Sequence[Operation], seed: int = 0, donors: Mapping[str, Encoder] | None = None
) -> Encoder:
    """The encoder after all operations, one after the other; the given one is not touched.

    Args:
        encoder: what is operated on.
        operations: in the order in which they are done.
        seed: the first operation draws with it, each later one with a seed derived from it and its place.
        donors: the encoders that operations name as theirs, by that name.

    Raises:
        InputError: an operation does not suit the encoder, or its donor is not given.
    """
    name = encoder.name
    for place, operation in enumerate(operations):
        own_seed = derive_seed(seed, "operation", place) if place else seed
        by_then = replace(encoder, name=name_after(name, operations[:place]))
        with explained(operation):
            encoder = _operate(by_then, operation, own_seed, donors or {})
    return replace(encoder, name=name)


def _operate(encoder: Encoder, operation: Operation, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
    arguments: dict[str, Any] = operation.arguments
    if operation.takes_seed:
        arguments["seed"] = seed
    if "donor" in arguments:
        name = arguments["donor"]
        if name not in donors:
            raise InputError(f"the donor {name} is not given")
        arguments["donor"] = replace(donors[name], name=display_name(name))
    return FUNCTIONS[operation.operation](encoder, **arguments)
