"""Random directions to look along from a model, when there is no second model to look to."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from babelscope.seeds import derive_seed


def random_end(weights: Mapping[str, Tensor], seed: int) -> dict[str, Tensor]:
    """The end of a random direction: alpha 1 on the line from `weights` to it.

    The direction is Gaussian, each filter of it scaled to the Euclidean norm of the weights' own (Li et al. 2018,
    "Visualizing the Loss Landscape of Neural Nets", section 4), so that models whose weights differ in scale, which
    need not change what they compute, are seen at the same distance. A filter is what makes one output: a row of a
    matrix, of embeddings a piece. Biases and norms, of one dimension, stay as they are.

    Args:
        weights: the parameters of a model by name, tied ones once.
        seed: another gives another direction; that of a weight follows from its name and the seed alone.
    """
    return {name: weight + _direction(weight, derive_seed(seed, "direction", name)) for name, weight in weights.items()}


def _direction(weight: Tensor, seed: int) -> Tensor:
    if weight.ndim < 2 or not weight.is_floating_point():  # what counts positions is no weight
        return torch.zeros_like(weight)
    drawn = torch.randn(weight.shape, generator=torch.Generator().manual_seed(seed)).to(weight)
    axes = tuple(range(1, weight.ndim))
    return drawn * (weight.norm(dim=axes, keepdim=True) / drawn.norm(dim=axes, keepdim=True))
