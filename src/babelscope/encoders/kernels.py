"""Kernels: how alike every two samples are, [samples, samples], and how kernels are made comparable.

CKA is the inner product of two unit kernels: centred, and divided by their norms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.core.intervals import ROUNDING

NOTHING_DEBIASED = "all samples are equally unlike each other, so that the debiased HSIC is 0"


def linear_kernels(name: str, side: Tensor) -> Tensor:
    """[*layers, samples, samples]: inner products of states measured from their mean, divided by the mean square.

    Args:
        name: of the side, for messages.
        side: [*layers, samples, width] in float64.

    Raises:
        InputError: A layer whose states do not vary.
    """
    states = side - side.mean(dim=-2, keepdim=True)
    spread, size = (values.square().sum(dim=-1).mean(dim=-1) for values in (states, side))
    require_none(spread <= ROUNDING**2 * size, name, side.shape[:-2], "its states are the same for all samples")
    return states @ states.mT / spread[..., None, None]


def gaussian_kernels(name: str, side: Tensor) -> Tensor:
    """[*layers, samples, samples]: exp(-|a - b|^2 / (2 sigma^2)), in which near samples count and far ones do not.

    sigma^2 is the median of the squared distances between different samples, for each layer by itself.

    Args:
        name: of the side, for messages.
        side: [*layers, samples, width] in float64.

    Raises:
        InputError: A layer of which at least half of the distances are 0.
    """
    layers = side.reshape(-1, *side.shape[-2:])
    squared = torch.stack([_squared_distances(layer) for layer in layers])
    medians = torch.stack([_median_between(distances) for distances in squared])
    alike = "at least half of the distances between its samples are 0"
    # Distances come from differences of squared norms: rounding is in proportion to the largest.
    require_none(medians <= ROUNDING * squared.amax(dim=(1, 2)), name, side.shape[:-2], alike)
    kernels = torch.exp(-squared / (2 * medians[:, None, None]))
    return kernels.reshape(*side.shape[:-1], side.shape[-2])


def unit_kernels(name: str, kernels: Tensor, debiased: bool) -> Tensor:
    """[all layers, samples^2]: kernels, centred and divided by their norms.

    Args:
        name: of the side, for messages.
        kernels: [*layers, samples, samples], whose diagonal is about 1 on average.
        debiased: centred so that inner products are the unbiased estimate of HSIC.

    Raises:
        InputError: A layer of which nothing is left when it is centred.
    """
    layers = kernels.shape[:-2]
    centred = (_centred_unbiased(kernels) if debiased else _centred_gram(kernels)).reshape(layers.numel(), -1)
    norms = torch.linalg.vector_norm(centred, dim=1)
    require_none(norms <= ROUNDING * kernels.shape[-1], name, layers, NOTHING_DEBIASED)
    return centred / norms[:, None]


def require_none(bad: Tensor, name: str, layers: Sequence[int], problem: str) -> None:
    """Raise an `InputError` that names the first bad layer; without `layers` there is one alone."""
    if bad.any():
        index = np.unravel_index(int(bad.flatten().int().argmax()), layers) if layers else ()
        where = f"layer {', '.join(map(str, index))} of {name}" if layers else name
        raise InputError(f"{where}: {problem}", "Leave it out, or give other samples.")


def _squared_distances(states: Tensor) -> Tensor:
    """[samples, samples] of [samples, width]."""
    states = states - states.mean(dim=0)
    squares = states.square().sum(dim=1)
    return (squares[:, None] + squares - 2 * states @ states.T).clamp(min=0).fill_diagonal_(0)


def _median_between(distances: Tensor) -> Tensor:
    """The median over pairs of different samples."""
    above = torch.ones_like(distances, dtype=torch.bool).triu(diagonal=1)
    return distances.new_tensor(float(np.median(distances[above].cpu().numpy())))


def _centred_gram(kernels: Tensor) -> Tensor:
    """H K H, with H the centring matrix: rows and columns sum to 0."""
    kernels = kernels - kernels.mean(dim=-1, keepdim=True)
    return kernels - kernels.mean(dim=-2, keepdim=True)


def _centred_unbiased(kernels: Tensor) -> Tensor:
    """The same without the diagonal (Szekely and Rizzo 2014): inner products are samples (samples - 3) HSIC."""
    n = kernels.shape[-1]
    diagonal = torch.eye(n, dtype=torch.bool, device=kernels.device)
    kernels = kernels.masked_fill(diagonal, 0)
    means = kernels.sum(dim=-1, keepdim=True) / (n - 2)
    overall = kernels.sum(dim=(-2, -1), keepdim=True) / ((n - 1) * (n - 2))
    return (kernels - means - means.mT + overall).masked_fill(diagonal, 0)
