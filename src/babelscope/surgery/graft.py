"""Graft: a part of a donor's weights."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.encoders.load import Encoder
from babelscope.encoders.state import weights_of, with_weights
from babelscope.errors import InputError
from babelscope.surgery.parts import chosen


def graft(encoder: Encoder, donor: Encoder, part: str = "all", layers: Sequence[int] | None = None) -> Encoder:
    """The encoder with a part of its weights taken from a donor of the same family and shape.

    Raises:
        InputError: the donor does not have these weights in the same shape.
    """
    weights, given = weights_of(encoder), weights_of(donor)
    taken = {}
    for name in chosen(encoder, part, layers):
        if name not in given or given[name].shape != weights[name].shape:
            raise InputError(
                f"graft: {donor.name} has no {name} of shape {tuple(weights[name].shape)}, as {encoder.name} has; "
                "give a donor of the same family and shape, or another part"
            )
        taken[name] = given[name].clone()
    return with_weights(encoder, weights | taken)
