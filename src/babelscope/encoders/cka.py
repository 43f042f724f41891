"""Centred kernel alignment (CKA): how alike two models, or two languages, place the same samples.

CKA(x, y) = HSIC(x, y) / sqrt(HSIC(x, x) HSIC(y, y)) compares the similarities between samples in x with those in y
(Kornblith et al. 2019, "Similarity of Neural Network Representations Revisited"). Rotating, moving or scaling either
side does not change it. HSIC as first defined, the biased one, is far above 0 even for unrelated states once they are
about as wide as the samples are many; with the debiased one (Song et al. 2012, "Feature Selection via Dependence
Maximization", equation 4) CKA then stays around 0, below it too: the one to read when samples are few.
"""

from __future__ import annotations

import torch
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.encoders.kernels import NOTHING_DEBIASED, ROUNDING, require_none


def linear_cka(x: Tensor, y: Tensor, debiased: bool = False) -> float:
    """CKA with linear kernels of a layer of one model and a layer of another.

    It takes memory for (width_x + width_y)^2 numbers, and none for pairs of samples. Sums are in float64, on the device
    of the states.

    Args:
        x: [samples, width_x]: the states of sentences, words, or whatever is compared.
        y: [samples, width_y]: of the same samples in the same order.
        debiased: take the unbiased estimate of HSIC.

    Raises:
        InputError: The two differ in samples, there are fewer than 3 (4 where `debiased`), a state is not finite, or
            the states of one side do not vary.
    """
    if len(x) != len(y):
        problem = f"x has {len(x)} samples and y has {len(y)}"
        raise InputError(problem, "Row i of both must be the same sample, or a sentence and its translation.")
    sides = [_Side(name, states) for name, states in (("x", x), ("y", y))]
    require_samples(len(x), debiased)
    one, other = sides
    shared = _hsic(_centred(one.rows.T @ other.rows), debiased)
    return float(shared / (one.norm(debiased) * other.norm(debiased)))


def require_samples(samples: int, debiased: bool) -> None:
    """Raise an `InputError` where there are too few samples for CKA to mean anything."""
    if debiased and samples < 4:
        reason = "the unbiased HSIC is divided by samples - 3"
        raise InputError(f"debiased CKA needs at least 4 samples, since {reason}; there are {samples}")
    if samples < 3:
        raise InputError(f"CKA needs at least 3 samples, since of any two it is 1; there are {samples}")


class _Side:
    """One of the two models: its states as rows, measured from their mean, and the sums of products of these.

    Every state x is extended to a row [x, |x|^2, 1]. The sum of products of the rows of two layers then holds all that
    the biased and the debiased HSIC need, the number of samples included. What rounding leaves of the mean is
    subtracted from the sums.
    """

    def __init__(self, name: str, states: Tensor):
        if not states.isfinite().all():
            raise InputError(f"{name} has a state that is NaN or infinite", "Look for a training that diverged.")
        self.name, states = name, states.double()
        self.origin = states.mean(dim=0)  # [width]
        moved = states - self.origin
        squares = moved.square().sum(dim=-1, keepdim=True)
        self.rows = torch.cat([moved, squares, torch.ones_like(squares)], dim=-1)  # [samples, width + 2]

    def norm(self, debiased: bool) -> Tensor:
        """The square root of its HSIC with itself."""
        moments = self.rows.T @ self.rows
        mean_square = (self.origin + moments[:-2, -1] / len(self.rows)).square().sum()
        centred = _centred(moments)
        biased, hsic = (_hsic(centred, form) for form in (False, debiased))
        constant = centred[-2, -1] <= ROUNDING**2 * len(self.rows) * mean_square
        require_none(constant, self.name, (), "its states are the same for all samples")
        require_none(hsic <= ROUNDING * biased, self.name, (), NOTHING_DEBIASED)
        return hsic.sqrt()


def _centred(moments: Tensor) -> Tensor:
    """[width_x + 2, width_y + 2]: the moments of states measured from their own means."""
    return _moved(_moved(moments).T).T


def _moved(moments: Tensor) -> Tensor:
    """Measure the states of the rows from their mean m: of [x, |x|^2, 1] to [x - m, |x - m|^2, 1]."""
    states, squares, ones = moments.split([len(moments) - 2, 1, 1])
    mean = states[:, -1] / ones[:, -1]  # [width]
    squares = squares - 2 * mean @ states + mean.square().sum() * ones
    return torch.cat([torch.addr(states, mean, ones[0], alpha=-1), squares, ones])


def _hsic(moments: Tensor, debiased: bool) -> Tensor:
    """From centred moments: HSIC times (samples - 1)^2 or, debiased, samples (samples - 3); CKA cancels these.

    With rows and columns of the Gram matrices that sum to 0, the three terms of the unbiased estimate become sums over
    single samples; tests hold them to sums over quadruples of samples.
    """
    aligned = torch.linalg.matrix_norm(moments[:-2, :-2]).square()
    if not debiased:
        return aligned
    n, spread = moments[-1, -1], moments[-2, -1] * moments[-1, -2]
    return aligned - n / (n - 2) * moments[-2, -2] + spread / ((n - 1) * (n - 2))
