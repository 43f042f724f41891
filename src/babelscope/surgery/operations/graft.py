"""Take a part of the weights from a donor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from babelscope.core.errors import InputError
from babelscope.surgery.operation import OnPart

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


class Graft(OnPart):
    """Take a part from a donor of the same family and shape.

    One of the two may have a masked language model head that the other has not; then `part` must leave out a head
    that the donor lacks.
    """

    operation: Literal["graft"] = "graft"
    donor: str = Field(min_length=1)
    """The encoder that the part is taken from."""

    @property
    def donors(self) -> tuple[str, ...]:
        """The donor."""
        return (self.donor,)

    def apply(self, encoder: Encoder, seed: int, donors: Mapping[str, Encoder]) -> Encoder:
        from babelscope.encoders.anatomy import anatomy_of
        from babelscope.encoders.state import backbone_prefix, weights_of, with_weights
        from babelscope.surgery.parts import chosen

        donor = donors[self.donor]
        if anatomy_of(donor.model.config) != anatomy_of(encoder.model.config):
            raise InputError(f"the donor {_described(donor)} is of another family than {_described(encoder)}")
        weights, prefix = weights_of(encoder), backbone_prefix(encoder)
        given = {name.removeprefix(backbone_prefix(donor)): weight for name, weight in weights_of(donor).items()}
        taken = {}
        for name in chosen(encoder, self.part, self.layers):
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
