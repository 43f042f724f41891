"""Take a part of the weights from a donor."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from babelscope.core.errors import InputError
from babelscope.surgery.operation import OnPart

if TYPE_CHECKING:
    from babelscope.encoders.load import Encoder


DECISIVE = (
    "num_attention_heads", "num_key_value_heads", "head_dim", "hidden_act", "hidden_activation", "activation",
    "activation_function", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", "rms_norm_eps",
    "position_embedding_type", "sinusoidal_pos_embds", "relative_attention", "pos_att_type", "position_buckets",
    "max_relative_positions", "share_att_key", "position_biased_input", "norm_rel_ebd", "rope_parameters",
    "local_attention", "global_attn_every_n_layers", "sliding_window", "scale_attn_weights",
    "scale_attn_by_inverse_layer_idx", "conv_kernel_size",
)  # fmt: skip
"""Settings that decide what is computed with the same weights."""


class Graft(OnPart):
    """Take a part from a donor of the same family and shape that computes with its weights in the same way.

    The two need not both have a masked language model head. If the donor alone lacks it, `part` must leave it out.
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
        _check_computes_alike(donor, encoder)
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
        _check_kinds_of_layers(donor, encoder, taken)
        _check_all_is_taken(donor, encoder, chosen(donor, self.part, self.layers), taken)
        _check_pieces(donor, encoder, taken)
        return with_weights(encoder, weights | taken)


def _check_computes_alike(donor: Encoder, encoder: Encoder) -> None:
    for name in DECISIVE:
        theirs, ours = (getattr(each.model.config, name, None) for each in (donor, encoder))
        if theirs != ours:
            raise InputError(
                f"the donor {_described(donor)} has {name} {theirs} in its config.json, and {_described(encoder)} has "
                f"{ours}: its weights would not compute what they do in the donor"
            )


def _check_kinds_of_layers(donor: Encoder, encoder: Encoder, taken: Iterable[str]) -> None:
    """Refuse layers of another kind, such as those that see near words alone; surgery moves it with their weights."""
    from babelscope.encoders.anatomy import anatomy_of
    from babelscope.surgery.parts import location_of

    layers = sorted({layer for name in taken if (layer := location_of(encoder, name).layer) is not None})
    for field in anatomy_of(encoder.model.config).per_layer:
        theirs, ours = (getattr(each.model.config, field) for each in (donor, encoder))
        for layer in layers:
            if theirs[layer] != ours[layer]:
                raise InputError(
                    f"layer {layer}, counted from 0, is {theirs[layer]} in the donor {_described(donor)}, and "
                    f"{ours[layer]} in {_described(encoder)}: its weights would not compute what they do in the donor"
                )


def _check_pieces(donor: Encoder, encoder: Encoder, taken: Collection[str]) -> None:
    """Refuse weights with an entry for each piece where the donor's pieces are others."""
    from babelscope.encoders.state import names_per_piece

    theirs, ours = (each.tokenizer.get_vocab() for each in (donor, encoder))
    if theirs != ours and (by_piece := [name for name in names_per_piece(encoder) if name in taken]):
        alike = sum(theirs.get(piece) == number for piece, number in ours.items())
        raise InputError(
            f"{by_piece[0]} has an entry for each piece, of which the donor {_described(donor)} and "
            f"{_described(encoder)} have {alike:,} of {len(ours):,} in common; give a donor with the same tokenizer, "
            "leave them out, as with part=layers, or carry embeddings over by pieces, as transplant does"
        )


def _check_all_is_taken(donor: Encoder, encoder: Encoder, part: Iterable[str], taken: Iterable[str]) -> None:
    """Refuse a head of which some would be left behind, since the encoder ties it to the word embeddings."""
    from babelscope.encoders.anatomy import anatomy_of
    from babelscope.encoders.state import backbone_prefix

    prefixes = tuple(anatomy_of(donor.model.config).head)
    known = {name.removeprefix(backbone_prefix(encoder)) for name in taken}
    left = [name for name in part if name.startswith(prefixes) and name not in known]
    if left and encoder.has_mlm_head:
        raise InputError(
            f"{_described(encoder)} ties {left[0]} to its word embeddings, and the donor {_described(donor)} does not; "
            "leave the head out, as with part=layers"
        )


def _described(encoder: Encoder) -> str:
    config = encoder.model.config
    head = "" if encoder.has_mlm_head else ", no head"
    return f"{encoder.name} ({config.model_type}, {config.num_hidden_layers} layers of {config.hidden_size}{head})"
