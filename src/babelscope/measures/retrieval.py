"""Retrieval of translations: how well sentence states of two languages are aligned."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize


def retrieval_accuracy(source: Tensor, target: Tensor) -> Tensor:
    """Share of source sentences whose nearest target sentence, by cosine, is their translation.

    Args:
        source: [..., sentences, hidden], states of sentences; leading dimensions (such as layers) are kept.
        target: the same shape; sentence i translates sentence i.

    Returns:
        [...], between 0 and 1. Of targets equally near, the first counts, so constant states score 1 / sentences.
    """
    similarity = normalize(source, dim=-1) @ normalize(target, dim=-1).transpose(-1, -2)
    return (similarity.argmax(dim=-1) == torch.arange(similarity.shape[-1])).double().mean(dim=-1)
