"""Which weights an operation is about, by the names of an encoder's parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import Encoder
from babelscope.encoders.state import (
    POOLER,
    backbone_prefix,
    layers_prefix,
    weights_of,
    with_weights,
    word_embeddings_name,
)
from babelscope.surgery.fields import check_layers


class Location(NamedTuple):
    """Where a weight is: its part (`other` if it is of none, as token types), and its layer, None outside of them."""

    part: str
    layer: int | None


def location_of(encoder: Encoder, name: str) -> Location:
    """Where the weight of that name is."""
    anatomy, backbone, layers = anatomy_of(encoder.model.config), backbone_prefix(encoder), layers_prefix(encoder)
    if name.startswith(POOLER) or not name.startswith(backbone):
        return Location("head", None)
    if name == word_embeddings_name(encoder):
        return Location("word-embeddings", None)
    if name.startswith(layers):
        number, _, inside = name.removeprefix(layers).partition(".")
        layer = anatomy.layer
        prefixes = {"attention": layer.attention, "feed-forward": layer.feed_forward, "norms": layer.norms}
        return Location(_part(inside, prefixes), int(number))
    return Location(_part(name.removeprefix(backbone), {"positions": anatomy.positions, "norms": anatomy.norms}), None)


def chosen(encoder: Encoder, part: str = "all", layers: Sequence[int] | None = None) -> list[str]:
    """The names of a part's weights.

    `layers` (from 0) leaves only what is in these layers. `head` is the masked language model head, without what is
    tied to the word embeddings, and the pooler; `norms` are all norms but the head's.

    Raises:
        InputError: the encoder has no such layer, or no weights of that part.
    """
    if layers is not None:
        check_layers(layers, encoder.model.config.num_hidden_layers, encoder.name)
    names = [name for name in weights_of(encoder) if _is_chosen(location_of(encoder, name), part, layers)]
    if not names:
        raise InputError(f"{encoder.name} ({encoder.model.config.model_type}) has no weights of part {part!r}")
    return names


def change(
    encoder: Encoder, part: str, layers: Sequence[int] | None, changed: Callable[[str, Tensor], Tensor]
) -> Encoder:
    """The encoder with `changed(name, weight)` in place of each chosen weight; all else stays."""
    weights = weights_of(encoder)
    new = {name: changed(name, weights[name]) for name in chosen(encoder, part, layers)}
    return with_weights(encoder, weights | new)


def stream(seed: int, *purpose: str) -> torch.Generator:
    """A random stream of its own for a purpose, such as ("noise", the weight's name)."""
    return torch.Generator().manual_seed(derive_seed(seed, *purpose))


def _is_chosen(location: Location, part: str, layers: Sequence[int] | None) -> bool:
    if layers is not None and location.layer not in layers:
        return False
    return part == "all" or location.part == part or (part == "layers" and location.layer is not None)


def _part(name: str, prefixes: dict[str, tuple[str, ...]]) -> str:
    """The part with the longest prefix that the name begins with."""
    parts = [
        (len(prefix), part) for part, all_ in prefixes.items() for prefix in all_ if f"{name}.".startswith(f"{prefix}.")
    ]
    return max(parts)[1] if parts else "other"
