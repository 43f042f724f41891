"""Taggers of small encoders, runs that are stopped or watched, and weights that are compared."""

import copy
from dataclasses import replace

import torch
from torch import nn

from babelscope.encoders.load import Encoder
from babelscope.tasks.tag import Tagger
from babelscope.tuning.checkpoint import module_weights
from babelscope.tuning.settings import Tuning
from families import DECODERS, family_model

QUICK = Tuning(learning_rate=3e-3, epochs=2, tokens_per_batch=128)
LABELS = ("ADJ", "DET", "NOUN", "PUNCT", "VERB")
FAMILIES = ("bert", "roberta", "deberta-v2", "modernbert", "gpt2")
LAYERS = 3
DROPOUT = {"modernbert": {"embedding_dropout": 0.1, "mlp_dropout": 0.1}}


class StoppedError(Exception):
    """What stops a run in a test."""


def stop_at(step):
    def progress(done, total, **numbers):
        if done == step:
            raise StoppedError

    return progress


def family_encoder(family, tokenizer, layers=LAYERS):
    torch.manual_seed(0)
    model = family_model(family, layers=layers, vocabulary=len(tokenizer), **DROPOUT.get(family, {}))
    model = model.base_model if family in DECODERS else model
    model.config.use_cache = False
    return Encoder(model, tokenizer, family)


def a_tagger(encoder, dropout=0.1, encoder_dropout=None):
    """A tagger with a copy of the encoder, whose own dropout stays as it is unless another is given."""
    torch.manual_seed(0)
    tagger = Tagger(replace(encoder, model=copy.deepcopy(encoder.model)), LABELS, dropout)
    for module in tagger.backbone.modules():
        if isinstance(module, nn.Dropout) and encoder_dropout is not None:
            module.p = encoder_dropout
    return tagger


def same_weights(first, second):
    return all(torch.equal(first[name], second[name]) for name in first) and first.keys() == second.keys()


def changed(before, model):
    return {name for name, tensor in module_weights(model).items() if not torch.equal(tensor, before[name])}


def copied(model):
    return {name: tensor.detach().clone() for name, tensor in module_weights(model).items()}


class Notes:
    """A watch that does all it can to disturb."""

    def __init__(self, every):
        self.every, self.resumed, self.seen = every, [], []

    def resume(self, step):
        self.resumed.append(step)

    def due(self, step, total):
        return step % self.every == 0

    def observe(self, step, model):
        assert not model.training
        assert not torch.is_grad_enabled()
        torch.rand(step + 3)
        model.train()
        self.seen.append((step, {name: tensor.clone() for name, tensor in module_weights(model).items()}))
