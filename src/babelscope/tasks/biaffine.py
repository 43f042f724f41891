"""The biaffine scorer (Dozat and Manning 2017): from the states of words to trees, whatever made the states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from babelscope.core.errors import InputError
from babelscope.core.examples import DEPREL, Tree
from babelscope.tasks.trees import single_root_trees

NONE = -100
"""The gold head and relation of padding: counts in no loss."""
_ROOT = DEPREL.index("root")


class BiaffineShape(NamedTuple):
    """A parametrisation."""

    arc: int
    """Width of the layers that arcs are scored from."""
    label: int
    """Width of those that relations are scored from."""
    activation: type[nn.Module]
    dropout: float = 0.33
    """After these layers, the same units for all words of a sentence."""
    zero: bool = False
    """Whether the biaffine weights start at zero, or as torch starts linear layers."""


class _LeakyReLU(nn.LeakyReLU):
    def __init__(self) -> None:
        super().__init__(0.1)


SHAPES = {
    "small": BiaffineShape(96, 16, nn.ELU, dropout=0.0),
    "underspecified": BiaffineShape(512, 128, nn.ELU),
    "align-then-predict": BiaffineShape(500, 200, _LeakyReLU, zero=True),
}
"""Ours for small encoders, and those of two published studies (`underspecified` by Wu et al. 2022,
`align-then-predict` by Muller et al. 2021)."""
SMALL_HIDDEN = 128
"""States up to so wide are scored by `small` unless another is asked for: the others would cost more time than what
makes the states."""


class Arcs(NamedTuple):
    """What a scorer makes of a batch of sentences. Position 0 is the root, position i the word i."""

    scores: Tensor
    """[sentences, words + 1, words + 1], float32: dependent x head; -inf where no arc can be."""
    dependents: Tensor
    """[sentences, words + 1, label]: each as a dependent."""
    heads: Tensor
    """[sentences, words + 1, label]: each as a head."""
    real: Tensor
    """[sentences, words + 1], bool: False where padded."""


class Biaffine(nn.Module):
    """Scores every arc between two words or from the root, and every relation for a given arc.

    The root is a parameter, not the state of a special piece: so it is the same in every language and sentence, and
    there for any model. The weights are drawn from torch's global generator.

    Args:
        hidden: width of the words' states.
        shape: a name in `SHAPES`; None: `small` for states no wider than `SMALL_HIDDEN`, else `underspecified`.
    """

    def __init__(self, hidden: int, shape: str | None = None):
        super().__init__()
        sizes = SHAPES[_checked(shape or ("small" if hidden <= SMALL_HIDDEN else "underspecified"))]
        self.sizes = sizes
        self.root: nn.Parameter | None = nn.Parameter(torch.randn(hidden))
        self.layer = nn.Linear(hidden, 2 * (sizes.arc + sizes.label))
        self.activation = sizes.activation()
        self.dropout = nn.Dropout(sizes.dropout)
        self.arc = nn.Linear(sizes.arc, sizes.arc)
        self.label = nn.Linear(sizes.label, len(DEPREL) * (sizes.label + 1))
        nn.init.xavier_uniform_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)
        if sizes.zero:
            for parameter in (*self.arc.parameters(), *self.label.parameters()):
                nn.init.zeros_(parameter)

    def forward(self, states: Tensor, real: Tensor) -> Arcs:
        """Score the arcs (equation 6: a bilinear term, and a linear one of the head alone).

        Args:
            states: [sentences, words, hidden]; with that of the root before them, where the scorer has none.
            real: [sentences, words], bool: False where padded.
        """
        if self.root is not None:
            states = torch.cat([self.root.to(states.dtype).expand(len(states), 1, -1), states], dim=1)
        real = torch.cat([real.new_ones(len(real), 1), real], dim=1)
        views = self.activation(self.layer(states))
        if self.sizes.dropout:
            views = views * self.dropout(views.new_ones(len(views), 1, views.shape[2]))
        arc, label = self.sizes.arc, self.sizes.label
        dependents, heads, *of_labels = views.split([arc, arc, label, label], dim=2)
        scores = (self.arc(dependents) @ heads.mT).float().masked_fill(~real[:, None, :], -torch.inf)
        return Arcs(self._allowed(scores), of_labels[0], of_labels[1], real)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.layer.weight.device

    def _allowed(self, scores: Tensor) -> Tensor:
        """The scores without those of arcs that no tree has; they may be changed in their place."""
        scores.diagonal(dim1=1, dim2=2).fill_(-torch.inf)  # no word is its own head
        return scores

    def relations(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """[arcs, relations], float32: scores of the relations of given arcs (equation 3).

        Args:
            dependents: [arcs, label], of `Arcs`.
            heads: [arcs, label].
        """
        return _mapped(self._maps(dependents), heads)

    def loss(self, states: Tensor, real: Tensor, heads: Tensor, relations: Tensor) -> Tensor:
        """Mean cross-entropy of the words' heads plus that of the relations of their gold arcs.

        Args:
            states: as of `forward`.
            real: [sentences, words], bool.
            heads: [sentences, words], int64: gold heads, 0 the root; `NONE` where padded.
            relations: [sentences, words], int64: gold classes; `NONE` where padded.
        """
        arcs = self(states, real)
        return self._loss(arcs, self._maps_of(arcs), heads, relations)

    def count(self, real: Tensor, heads: Tensor) -> Tensor:
        """What the words' losses are divided by: the words that have a head. `real` and `heads` are as of `loss`."""
        return (heads != NONE).sum()

    @torch.no_grad()
    def decode(self, states: Tensor, real: Tensor) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Heads and relations, [sentences, words] each: the best tree with one root, and its best relations.

        The word under the root, and no other, is `root`. What is past a sentence's end means nothing.
        """
        arcs = self(states, real)
        return self._decode(arcs, self._maps_of(arcs))

    def trees(self, states: Tensor, real: Tensor) -> list[Tree]:
        """The tree of each sentence, over its own words."""
        return _as_trees(self.decode(states, real), real)

    @torch.no_grad()
    def trees_and_loss(
        self, states: Tensor, real: Tensor, heads: Tensor, relations: Tensor
    ) -> tuple[list[Tree], Tensor]:
        """What `trees` and `loss` give, for little more than the time of one."""
        arcs = self(states, real)
        maps = self._maps_of(arcs)
        return _as_trees(self._decode(arcs, maps), real), self._loss(arcs, maps, heads, relations)

    def _decode(self, arcs: Arcs, maps: Tensor) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        heads = best_trees(arcs.scores, arcs.real)
        return heads, self._labels(arcs, maps, heads)

    def _labels(self, arcs: Arcs, maps: Tensor, tree_heads: NDArray[np.int64]) -> NDArray[np.int64]:
        """[sentences, words]: the best relations in trees."""
        heads = torch.from_numpy(tree_heads).to(maps.device)
        labels = relations_to(arcs, maps, heads)
        labels[:, _ROOT] = torch.where(heads.flatten() == 0, torch.inf, -torch.inf)
        return labels.argmax(dim=1).view_as(heads).cpu().numpy()

    def _loss(self, arcs: Arcs, maps: Tensor, heads: Tensor, relations: Tensor) -> Tensor:
        of_heads = cross_entropy(arcs.scores[:, 1:].flatten(0, 1), heads.flatten(), ignore_index=NONE)
        labels = relations_to(arcs, maps, heads.clamp(min=0))
        return of_heads + cross_entropy(labels, relations.flatten(), ignore_index=NONE)

    def _maps_of(self, arcs: Arcs) -> Tensor:
        return self._maps(arcs.dependents[:, 1:].flatten(0, 1))

    def _maps(self, dependents: Tensor) -> Tensor:
        """[words, relations, label + 1]: what a word's head is multiplied by; most of the time goes into these."""
        return self.label(dependents).unflatten(1, (len(DEPREL), -1))


def best_trees(scores: Tensor, real: Tensor) -> NDArray[np.int64]:
    """[sentences, words]: the heads of the best trees, 0 past a sentence's end. `real` is as of `Arcs`."""
    return single_root_trees(scores.cpu().numpy(), real[:, 1:].sum(dim=1).cpu().numpy()).clip(min=0)


def relations_to(arcs: Arcs, maps: Tensor, heads: Tensor) -> Tensor:
    """[sentences * words, relations]: scores for the arcs from `heads`, [sentences, words]."""
    of_heads = arcs.heads.gather(1, heads[:, :, None].expand(-1, -1, arcs.heads.shape[2]))
    return _mapped(maps, of_heads.flatten(0, 1))


def _mapped(maps: Tensor, heads: Tensor) -> Tensor:
    heads = torch.cat([heads, heads.new_ones(len(heads), 1)], dim=1)
    return (maps * heads[:, None]).sum(dim=2).float()  # on a CPU faster than a matrix product for each arc


def _as_trees(decoded: tuple[NDArray[np.int64], NDArray[np.int64]], real: Tensor) -> list[Tree]:
    """Each sentence's tree, over its own words."""
    heads, relations = (numbers.tolist() for numbers in decoded)
    return [
        Tree(its_heads[:count], [DEPREL[number] for number in its_relations[:count]])
        for its_heads, its_relations, count in zip(heads, relations, real.sum(dim=1).tolist(), strict=True)
    ]


def _checked(shape: str) -> str:
    if shape not in SHAPES:
        raise InputError(f"there is no parser head {shape!r}; there are {', '.join(SHAPES)}")
    return shape
