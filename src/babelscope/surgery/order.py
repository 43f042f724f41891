"""The order of layers: what reversing, dropping, permuting and repeating have in common."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from torch import Tensor
from transformers import PretrainedConfig

from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import Encoder
from babelscope.encoders.state import layers_prefix, weights_of, with_weights

Layer = dict[str, Tensor]
"""A layer's weights, named from the layer on."""


def in_order(encoder: Encoder, order: Sequence[int]) -> Encoder:
    """The encoder whose layer `i` is layer `order[i]` of the given one.

    A layer's settings (ModernBERT's global or local attention) move with its weights. Weights that some layers do not
    have (ModernBERT's first layer has no attention norm) do not move: they stay in the order in which the layers were,
    so that dropping leaves each layer its own; a copy of a layer that has none takes the next layer's.
    """
    weights, prefix = weights_of(encoder), layers_prefix(encoder)
    layers = _layers(encoder)
    shared = set.intersection(*map(set, layers))
    uneven = set().union(*layers) - shared
    new = {name: weight for name, weight in weights.items() if not name.startswith(prefix)}
    for place, (moved, stayed) in enumerate(zip(order, sorted(order), strict=True)):
        new |= {f"{prefix}{place}.{name}": layers[moved][name] for name in shared}
        new |= {f"{prefix}{place}.{name}": _nearest(layers, stayed, name) for name in uneven}
    return with_weights(encoder, new, config=_configuration(encoder.model.config, order))


def _layers(encoder: Encoder) -> list[Layer]:
    prefix = layers_prefix(encoder)
    layers: list[Layer] = [{} for _ in range(encoder.model.config.num_hidden_layers)]
    for name, weight in weights_of(encoder).items():
        if name.startswith(prefix):
            number, _, inside = name.removeprefix(prefix).partition(".")
            layers[int(number)][inside] = weight
    return layers


def _nearest(layers: list[Layer], first: int, name: str) -> Tensor:
    """The weight of layer `first`, or of the next that has it (after the last, of the layers before)."""
    return next(layer[name] for layer in layers[first:] + layers[:first] if name in layer)


def _configuration(config: PretrainedConfig, order: Sequence[int]) -> PretrainedConfig:
    config = copy.deepcopy(config)
    for field in anatomy_of(config).per_layer:
        setattr(config, field, [getattr(config, field)[layer] for layer in order])
    config.num_hidden_layers = len(order)
    return config
