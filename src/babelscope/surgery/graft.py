"""Graft: a part of a donor's weights."""

from __future__ import annotations

from collections.abc import Sequence

from babelscope.core.errors import InputError
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import Encoder
from babelscope.encoders.state import backbone_prefix, weights_of, with_weights
from babelscope.surgery.parts import chosen


def graft(encoder: Encoder, donor: Encoder, part: str = "all", layers: Sequence[int] | None = None) -> Encoder:
    """The encoder with a part of its weights taken from a donor of the same family and shape.

    One of the two may have a masked language model head that the other has not; then `part` must leave out a head
    that the donor lacks.

    Raises:
        InputError: the donor is of another family, or does not have these weights in the same shape.
    """
    if anatomy_of(donor.model.config) != anatomy_of(encoder.model.config):
        raise InputError(f"the donor {_described(donor)} is of another family than {_described(encoder)}")
    weights, prefix = weights_of(encoder), backbone_prefix(encoder)
    given = {name.removeprefix(backbone_prefix(donor)): weight for name, weight in weights_of(donor).items()}
    taken = {}
    for name in chosen(encoder, part, layers):
        theirs = given.get(name.removeprefix(prefix))
        if theirs is None or theirs.shape != weights[name].shape:
            raise InputError(
                f"the donor {_described(donor)} has no {name} of shape {tuple(weights[name].shape)}, as "
                f"{_described(encoder)} has; give a donor of the same shape, or another part"
            )
        taken[name] = theirs.clone()
    return with_weights(encoder, weights | taken)


def _described(encoder: Encoder) -> str:
    config = encoder.model.config
    head = "" if encoder.has_mlm_head else ", no head"
    return f"{encoder.name} ({config.model_type}, {config.num_hidden_layers} layers of {config.hidden_size}{head})"
