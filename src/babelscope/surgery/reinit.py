"""Forget everything: the same architecture with fresh weights."""

from __future__ import annotations

import copy
from dataclasses import replace

import torch

from babelscope.encoders.load import Encoder, untrained_model
from babelscope.seeds import derive_seed


def reinit(encoder: Encoder, seed: int) -> Encoder:
    """The encoder with all its weights drawn anew by the model's own initialiser; configuration and tokenizer stay.

    A pure function of the configuration and `seed`; the given encoder is not touched.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "reinit"))
        model = untrained_model(copy.deepcopy(encoder.model.config), mlm_head=encoder.has_mlm_head)
    return replace(encoder, model=model)
