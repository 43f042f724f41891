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
    similarity = _cosines(source, target)
    own = torch.arange(similarity.shape[-1], device=similarity.device)
    return (similarity.argmax(dim=-1) == own).double().mean(dim=-1)


def mutual_retrieval(source: Tensor, target: Tensor) -> Tensor:
    """Share of sentence pairs that are nearer to each other, by cosine, than either is to any other sentence.

    Its mean and its maximum over layers are the two scores of MEXA (Kargaran et al. 2025), which for decoders takes
    sentence states as means weighted by position. Never more than `retrieval_accuracy`.

    Args:
        source: [..., sentences, hidden], as for `retrieval_accuracy`.
        target: the same shape; sentence i translates sentence i.

    Returns:
        [...], between 0 and 1. A tie counts as not retrieved, so constant states score 0.
    """
    similarity = _cosines(source, target)
    own = similarity.diagonal(dim1=-2, dim2=-1)
    itself = torch.eye(similarity.shape[-1], dtype=torch.bool, device=similarity.device)
    others = similarity.masked_fill(itself, -torch.inf)
    return (own > torch.maximum(others.amax(dim=-1), others.amax(dim=-2))).double().mean(dim=-1)


def _cosines(source: Tensor, target: Tensor) -> Tensor:
    return normalize(source, dim=-1) @ normalize(target, dim=-1).transpose(-1, -2)
