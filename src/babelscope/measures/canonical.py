"""Similarity of states by canonical correlations (CCA): SVCCA and PWCCA.

CCA finds the directions of x and the directions of y along which the same samples agree most; SVCCA and PWCCA differ in
how they keep directions that carry almost nothing from counting as much as all others. Both need many more samples
than directions: with as many of the one as of the other, any two sets of states agree.
"""

from __future__ import annotations

import torch
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.encoders.cka import ROUNDING, States, paired_states


def svcca(x: States, y: States, variance: float = 0.99) -> float:
    """Mean canonical correlation of the main directions of x and y (Raghu et al. 2017, "SVCCA").

    Args:
        x: [samples, width_x].
        y: [samples, width_y], the same samples in the same order.
        variance: the share of each side's variance that is kept, in as few directions as hold it; above 0, at most 1.

    Returns:
        Between 0 and 1; rotating or scaling either side does not change it.

    Raises:
        InputError: The sides differ in samples, a state is not finite, states that do not vary, no more samples than
            directions kept + 1, or a variance out of range.
    """
    if not 0 < variance <= 1:
        raise InputError(f"the share of variance to keep is {variance:g}; give one above 0, at most 1")
    x, y = paired_states(x, y)
    return float(_correlations(_directions("x", x, variance), _directions("y", y, variance))[1].mean())


def pwcca(x: States, y: States) -> float:
    """Canonical correlations weighted by how much of x each direction holds (Morcos et al. 2018, section 2.2).

    The weight of a canonical direction of x is the sum of its absolute products with the units of x, so that directions
    which hold only noise count little. It is therefore not symmetric: it says how much of x is found in y. No linear
    map of y that can be undone changes it, and no scaling of x; a rotation of x changes the weights.

    Args:
        x: [samples, width_x].
        y: [samples, width_y], the same samples in the same order.

    Returns:
        Between 0 and 1.

    Raises:
        InputError: The sides differ in samples, a state is not finite, states that do not vary, or no more samples
            than directions + 1.
    """
    x, y = paired_states(x, y)
    variates, correlations = _correlations(_directions("x", x), _directions("y", y))
    weights = (variates.T @ (x - x.mean(dim=0))).abs().sum(dim=1)
    return float((weights * correlations).sum() / weights.sum())


def _directions(name: str, states: Tensor, variance: float = 1.0) -> Tensor:
    """[samples, directions], orthonormal: the fewest principal directions that hold this share of the variance."""
    if states.ndim != 2:
        raise InputError(f"{name} has the shape {list(states.shape)}; CCA takes one layer, [samples, width]")
    directions, singular, _ = torch.linalg.svd(states - states.mean(dim=0), full_matrices=False)
    present = int((singular > ROUNDING * torch.linalg.matrix_norm(states)).sum())
    if present == 0:
        raise InputError(f"{name}: its states are the same for all samples", "Leave it out, or give other samples.")
    held = singular[:present].square().cumsum(dim=0)
    kept = min(int((held < variance * held[-1]).sum()) + 1, present)
    if kept > len(states) - 2:
        problem = f"{name}: {len(states)} samples are too few for the {kept} directions that they vary in"
        raise InputError(problem, "Canonical correlations would be 1 whatever the other side; give many more samples.")
    return directions[:, :kept]


def _correlations(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The canonical variates of x, [samples, pairs], and their correlations, [pairs], of orthonormal directions."""
    turns, correlations, _ = torch.linalg.svd(x.T @ y, full_matrices=False)
    return x @ turns, correlations.clamp(max=1)
