"""The pooler of BERT's and RoBERTa's families: what makes of the first hidden state the state of the whole text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, PretrainedConfig, PreTrainedModel

from babelscope.encoders.folder import OURS


class Pooler(nn.Module):
    """A linear layer and tanh (Devlin et al., 2019). BERT trained it by telling whether a sentence follows another.

    A new one is drawn from torch's global generator, as the family's own initialiser does.
    """

    def __init__(self, config: PretrainedConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        nn.init.normal_(self.dense.weight, std=config.initializer_range)
        nn.init.zeros_(self.dense.bias)

    def forward(self, first: Tensor) -> Tensor:
        """[texts, hidden]: from the first state of each text."""
        return torch.tanh(self.dense(first))


def may_have_pooler(backbone: PreTrainedModel) -> bool:
    """Whether the family has a pooler; the backbone of a masked language model leaves its place empty (None)."""
    return hasattr(backbone, "pooler")


def read_pooler(source: str, left_over: Collection[str], backbone: PreTrainedModel, **options: Any) -> Pooler | None:
    """A checkpoint's pooler, which has no place in a masked language model; None if there is none.

    Args:
        source: the folder or hub name.
        left_over: the names of the checkpoint's weights that the masked language model did not take.
        backbone: of that model.
        options: of `from_pretrained`, as the model was loaded with.
    """
    if not may_have_pooler(backbone) or not any(map(_is_of_encoder, left_over)):
        return None
    with torch.random.fork_rng(devices=[]):
        pooler = Pooler(backbone.config)
    pooler.load_state_dict(AutoModel.from_pretrained(source, **options).pooler.state_dict())
    return pooler.eval()


def _is_of_encoder(name: str) -> bool:
    """Whether a weight is of a pooler that transformers knows, and not of a head that is ours alone."""
    return name.endswith("pooler.dense.weight") and not name.startswith(OURS)
