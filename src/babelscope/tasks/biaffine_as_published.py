"""The biaffine scorer as published code had it (Wu et al. 2022), where it did otherwise than it should."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from babelscope.tasks.biaffine import NONE, Arcs, Biaffine, relations_to
from babelscope.tasks.trees import single_root_trees

OF_THE_SCORER = frozenset({"unscored-root", "short-mean", "summed-probabilities"})
"""The quirks that a scorer can have."""
_NO_SCORE = -1e8
"""So low that the arc's probability is 0, while a sentence of one word still has one arc."""


def scorer(hidden: int, shape: str | None, quirks: Collection[str]) -> Biaffine:
    """A scorer; one with quirks if some of them are of scorers."""
    return PublishedBiaffine(hidden, shape, quirks) if OF_THE_SCORER & set(quirks) else Biaffine(hidden, shape)


class PublishedBiaffine(Biaffine):
    """The scorer with some of the quirks."""

    def __init__(self, hidden: int, shape: str | None, quirks: Collection[str]):
        super().__init__(hidden, shape)
        self.quirks = frozenset(quirks)

    def forward(self, states: Tensor, real: Tensor) -> Arcs:
        """As of any scorer; without scores of arcs from the root, if so asked."""
        arcs = super().forward(states, real)
        if "unscored-root" in self.quirks:
            arcs.scores[:, :, 0] = _NO_SCORE
        return arcs

    def _loss(self, arcs: Arcs, maps: Tensor, heads: Tensor, relations: Tensor) -> Tensor:
        of_heads = heads.masked_fill(heads == 0, NONE) if "unscored-root" in self.quirks else heads
        labels = relations_to(arcs, maps, heads.clamp(min=0))
        pairs = ((arcs.scores[:, 1:].flatten(0, 1), of_heads.flatten()), (labels, relations.flatten()))
        losses = [cross_entropy(scores, gold, ignore_index=NONE, reduction="sum") for scores, gold in pairs]
        if "short-mean" in self.quirks:
            real = arcs.real[:, 1:]
            return (losses[0] + losses[1]) / (real.sum() - real.any(dim=1).sum()).clamp(min=1)
        counts = [(gold != NONE).sum().clamp(min=1) for _, gold in pairs]
        return losses[0] / counts[0] + losses[1] / counts[1]

    def _decode(self, arcs: Arcs, maps: Tensor) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        words = arcs.real[:, 1:].sum(dim=1).cpu().numpy()
        if "summed-probabilities" not in self.quirks:
            heads = single_root_trees(self._comparable(arcs.scores).cpu().numpy(), words).clip(min=0)
            return heads, self._labels(arcs, maps, heads)
        likeliest, labels = self._relations_of_all(arcs, maps)
        worth = arcs.scores.softmax(dim=2) * pad(likeliest, (0, 0, 1, 0))
        heads = single_root_trees(worth.cpu().numpy(), words).clip(min=0)
        chosen = torch.from_numpy(heads).to(labels.device)[:, :, None]
        return heads, labels.gather(2, chosen)[:, :, 0].cpu().numpy()

    def _comparable(self, scores: Tensor) -> Tensor:
        """Scores of which one word's can be left out: without any for the root, logarithms of probabilities."""
        if "unscored-root" not in self.quirks:
            return scores
        scores = scores.log_softmax(dim=2)
        scores[:, :, 0] = 0.0
        return scores

    def _relations_of_all(self, arcs: Arcs, maps: Tensor) -> tuple[Tensor, Tensor]:
        """[sentences, words, words + 1] each: of every arc the probability of its likeliest relation, and that."""
        heads = pad(arcs.heads, (0, 1), value=1.0)
        rows = maps.unflatten(0, (len(heads), -1)).flatten(1, 2)  # [sentences, words * relations, label + 1]
        scores = (rows @ heads.mT).float().unflatten(1, (-1, maps.shape[1]))
        likeliest, labels = scores.softmax(dim=2).max(dim=2)
        return likeliest, labels
