"""The weights of an encoder as named tensors, and encoders made of them."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from babelscope.core.errors import InputError
from babelscope.encoders.anatomy import anatomy_of
from babelscope.encoders.load import Encoder, untrained_model

Weights = dict[str, Tensor]
"""Weights by name. They are the model's own tensors: whoever has them must not change them in place."""


POOLER = "pooler."
"""What the names of the pooler's weights begin with."""


def weights_of(encoder: Encoder) -> Weights:
    """Every weight of an encoder, the backbone's first; tied weights once, by their name in the backbone."""
    pooler = encoder.pooler.named_parameters() if encoder.pooler else ()
    named = dict(encoder.model.named_parameters(remove_duplicate=False))
    weights = {name: named[name] for name in dict.fromkeys(_first_names(encoder).values())}
    return {
        name: weight.detach()
        for name, weight in (weights | {POOLER + name: parameter for name, parameter in pooler}).items()
    }


def with_weights(
    encoder: Encoder,
    weights: Mapping[str, Tensor],
    config: PretrainedConfig | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    languages: Mapping[str, PreTrainedTokenizerBase] | None = None,
) -> Encoder:
    """A new encoder with the given weights; what is tied in `encoder` is tied in it.

    Tensors of `encoder` are copied, so that training one does not change the other; all else is taken over as it is.
    The model is made without memory for weights of its own, so nothing is drawn only to be thrown away.

    Args:
        encoder: says what is not given: head, buffers, ties, name.
        weights: named as `weights_of` does. Names that the new model does not have are left out.
        config: of the new model, where its shape differs.
        tokenizer: of the new model, where it differs. Languages with tokenizers of their own stay with the old one,
            whose pieces they share, unless `languages` says which there are.
        languages: those with tokenizers of their own, where they differ.
    """
    if languages is None:
        languages = {} if tokenizer else encoder.languages
    with torch.device("meta"):
        model = untrained_model(copy.deepcopy(config or encoder.model.config), mlm_head=encoder.has_mlm_head)
    _fill(model, encoder, weights)
    pooler = copy.deepcopy(encoder.pooler)
    if pooler:
        pooler.load_state_dict({name: weights[POOLER + name] for name in pooler.state_dict()})
    tokenizer = tokenizer or encoder.tokenizer
    return replace(encoder, model=model, tokenizer=tokenizer, pooler=pooler, languages=languages)


def backbone_prefix(encoder: Encoder) -> str:
    """What the names of the backbone's weights begin with; the others are the head's."""
    return f"{anatomy_of(encoder.model.config).backbone}." if encoder.has_mlm_head else ""


def word_embeddings_name(encoder: Encoder) -> str:
    """The name of the word embeddings, [pieces, width]."""
    return f"{backbone_prefix(encoder)}{anatomy_of(encoder.model.config).word_embeddings}.weight"


def names_per_piece(encoder: Encoder) -> list[str]:
    """The weights with an entry for each piece: those that grow with the vocabulary."""
    config = copy.deepcopy(encoder.model.config)
    config.vocab_size += 1
    with torch.device("meta"):
        larger = dict(untrained_model(config, mlm_head=encoder.has_mlm_head).named_parameters(remove_duplicate=False))
    return [
        name for name, weight in weights_of(encoder).items() if name in larger and larger[name].shape != weight.shape
    ]


def layers_prefix(encoder: Encoder) -> str:
    """What the names of the layers' weights begin with, up to the number of the layer."""
    return f"{backbone_prefix(encoder)}{anatomy_of(encoder.model.config).layers}."


def _fill(model: PreTrainedModel, encoder: Encoder, weights: Mapping[str, Tensor]) -> None:
    borrowed = {weight.data_ptr() for weight in encoder.model.parameters()}
    first_names = _first_names(encoder)
    made: dict[str, nn.Parameter] = {}
    modules = dict(model.named_modules())
    for name, meant in list(model.named_parameters(remove_duplicate=False)):
        first = first_names.get(name, name)
        if first not in made:
            weight = weights[first]
            if weight.shape != meant.shape:
                raise InputError(
                    f"{encoder.name}: {name} would be {list(weight.shape)}, and its configuration has it as "
                    f"{list(meant.shape)}"
                )
            made[first] = nn.Parameter(weight.clone() if weight.data_ptr() in borrowed else weight)
        _set(modules, name, made[first])
    kept, layers = dict(encoder.model.named_buffers()), re.escape(layers_prefix(encoder))
    for name, made_buffer in list(model.named_buffers()):
        in_first_layer = re.sub(rf"^({layers})\d+", r"\g<1>0", name)  # alike in all, of which there may be more now
        buffer = kept[name if name in kept else in_first_layer]
        same = buffer.shape == made_buffer.shape
        _set(modules, name, buffer.clone() if same else _of_length(buffer, made_buffer.shape[1]))


def _of_length(buffer: Tensor, positions: int) -> Tensor:
    """[1, positions]: what a model keeps for each position (its number, or the type 0), for another number of them."""
    first, second = buffer[0, :2]
    return (first + (second - first) * torch.arange(positions, device=buffer.device))[None]


def _first_names(encoder: Encoder) -> dict[str, str]:
    """For each name the first one of the same weight: of tied weights, the name in the backbone."""
    named = dict(encoder.model.named_parameters(remove_duplicate=False))
    firsts: dict[int, str] = {}
    backbone = backbone_prefix(encoder)
    backbone_first = sorted(named, key=lambda name: not name.startswith(backbone))
    return {name: firsts.setdefault(id(named[name]), name) for name in backbone_first}


def _set(modules: Mapping[str, nn.Module], name: str, value: Tensor) -> None:
    parent, _, leaf = name.rpartition(".")
    setattr(modules[parent], leaf, value)
