"""Weights drawn anew by the model's own initialiser."""

from __future__ import annotations

import copy

import torch
from transformers import PretrainedConfig

from babelscope.core.seeds import derive_seed
from babelscope.encoders.load import Encoder, untrained_model
from babelscope.encoders.pooler import Pooler
from babelscope.encoders.state import POOLER, Weights


def fresh_weights(encoder: Encoder, seed: int, config: PretrainedConfig | None = None) -> Weights:
    """All weights of such an encoder (or with another configuration), drawn by the model's own initialiser.

    Tied weights are there by each of their names. What a tensor becomes depends on the configuration and `seed`
    alone, not on which others are taken with it.
    """
    config = copy.deepcopy(config or encoder.model.config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "reinit"))
        model = untrained_model(config, mlm_head=encoder.has_mlm_head)
        pooler = Pooler(config).named_parameters() if encoder.pooler else ()
    weights = [*model.named_parameters(remove_duplicate=False), *((POOLER + name, weight) for name, weight in pooler)]
    return {name: weight.detach() for name, weight in weights}
