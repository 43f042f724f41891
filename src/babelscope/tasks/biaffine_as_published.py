"""The biaffine scorer as published code had it (Wu et al. 2022, Muller et al. 2021), where it did otherwise."""

from __future__ import annotations

from collections.abc import Collection
from math import sqrt

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL
from babelscope.encoders.load import Encoder
from babelscope.encoders.pieces import Frame
from babelscope.tasks.as_published import OF_TREES, OF_WORDS
from babelscope.tasks.biaffine import NONE, Arcs, Biaffine, best_trees, relations_to

OF_THE_SCORER = OF_TREES.keys() - OF_WORDS.keys()
"""What needs a scorer of this kind: `cut-sentences` too, since words whose head is cut off have no loss."""
_MULLER = "align-then-predict"
_NO_SCORE = -1e8
"""So low that the arc's probability is 0, while a sentence of one word still has one arc."""
_NEVER_RIGHT = DEPREL.index("dep")
"""A relation that no word under the root has."""


def scorer(hidden: int, shape: str | None, quirks: Collection[str]) -> Biaffine:
    """A scorer; one with quirks if some of them are of scorers."""
    return PublishedBiaffine(hidden, shape, quirks) if OF_THE_SCORER & set(quirks) else Biaffine(hidden, shape)


def drops_after_layers(shape: str | None, quirks: Collection[str]) -> bool:
    """Whether all dropout is after the layers of the scorer, and none before the head."""
    return shape == _MULLER and "published-scorer" in quirks


def check_root(quirks: Collection[str], encoder: Encoder) -> None:
    """Refuse an encoder whose sentences do not begin with a token for the root, if a quirk asks for one."""
    if "cls-root" in quirks and not Frame.of(encoder.tokenizer).before:
        reason = f"the tokenizer of {encoder.name} begins no sentence with a token such as [CLS]"
        raise InputError(f"quirk cls-root: {reason}; leave the quirk out")


class PublishedBiaffine(Biaffine):
    """The scorer with some of the quirks."""

    def __init__(self, hidden: int, shape: str | None, quirks: Collection[str]):
        super().__init__(hidden, shape)
        self.quirks = frozenset(quirks)
        self.constant: nn.Parameter | None = None
        if "cls-root" in self.quirks:
            self.root = None
        if "published-scorer" in self.quirks:
            self._start_as_theirs(shape)

    def _start_as_theirs(self, shape: str | None) -> None:
        """Of Muller et al. orthogonal layers. Of Wu et al. as torch starts linear and bilinear ones.

        But for arcs: their matrix counted as one of three dimensions.
        """
        arc, label = self.sizes.arc, self.sizes.label
        if shape == _MULLER:
            for rows in self.layer.weight.split([arc, arc, label, label]):
                nn.init.orthogonal_(rows)
            return
        self.layer.reset_parameters()
        for weights in (self.arc.weight, self.arc.bias):
            nn.init.uniform_(weights, -sqrt(6 / ((arc + 1) * (arc + 2))), sqrt(6 / ((arc + 1) * (arc + 2))))
        self.label = nn.Linear(label, len(DEPREL) * label, bias=False)
        self.constant = nn.Parameter(torch.empty(len(DEPREL)))
        nn.init.uniform_(self.constant, -1 / sqrt(label), 1 / sqrt(label))

    def _maps(self, dependents: Tensor) -> Tensor:
        maps = super()._maps(dependents)
        if self.constant is None:
            return maps
        return torch.cat([maps, self.constant.to(maps.dtype)[:, None].expand(len(maps), -1, 1)], dim=2)

    def _allowed(self, scores: Tensor) -> Tensor:
        allowed = scores if "self-arcs" in self.quirks else super()._allowed(scores)
        if "unscored-root" in self.quirks:
            allowed[:, :, 0] = _NO_SCORE
        return allowed

    def count(self, real: Tensor, heads: Tensor) -> Tensor:
        """As of any scorer, or all words less the sentences."""
        return real.sum() - real.any(dim=1).sum() if "short-mean" in self.quirks else super().count(real, heads)

    def _loss(self, arcs: Arcs, maps: Tensor, heads: Tensor, relations: Tensor) -> Tensor:
        of_heads = heads.masked_fill(heads == 0, NONE) if "unscored-root" in self.quirks else heads
        labels = relations_to(arcs, maps, heads.clamp(min=0))
        pairs = ((arcs.scores[:, 1:].flatten(0, 1), of_heads.flatten()), (labels, relations.flatten()))
        losses = [cross_entropy(scores, gold, ignore_index=NONE, reduction="sum") for scores, gold in pairs]
        return (losses[0] + losses[1]) / self.count(arcs.real[:, 1:], heads).clamp(min=1)

    def _decode(self, arcs: Arcs, maps: Tensor) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if "summed-probabilities" not in self.quirks:
            heads = best_trees(self._comparable(arcs.scores), arcs.real)
            return heads, self._labels(arcs, maps, heads)
        likeliest, labels = self._relations_of_all(arcs, maps)
        likeliest = pad(likeliest, (0, 0, 1, 0))
        likeliest = likeliest.mT if "reversed-relations" in self.quirks else likeliest
        heads = best_trees(arcs.scores.softmax(dim=2) * likeliest, arcs.real)
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
        if "unscored-root" in self.quirks:  # where an arc has no probability, theirs took the first of equal zeros
            labels[:, :, 0] = _NEVER_RIGHT
        return likeliest, labels
