"""Centred kernel alignment (CKA): how alike two models, or two languages, place the same samples.

CKA(x, y) = HSIC(x, y) / sqrt(HSIC(x, x) HSIC(y, y)) compares the similarities between samples in x with those in y
(Kornblith et al. 2019, "Similarity of Neural Network Representations Revisited"). Rotating, moving or scaling either
side does not change it. HSIC as first defined, the biased one, is far above 0 even for unrelated states once they are
about as wide as the samples are many; with the debiased one (Song et al. 2012, "Feature Selection via Dependence
Maximization", equation 4) CKA then stays around 0, below it too: the one to read when samples are few.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.encoders.kernels import NOTHING_DEBIASED, ROUNDING, require_none

States = Tensor | np.ndarray


class LinearCKA:
    """CKA with linear kernels between all layers of two models, over any number of samples, batch by batch.

    It is exact: the result is the one that all samples at once would give, whatever the batches. Memory is 8 bytes
    times (layers_x width_x) (layers_y width_y) for the pairs, and 8 layers width^2 for each side by itself; it does
    not grow with the samples; a batch needs about five times its own size in float64 while it is added. Sums are in
    float64, on the device of the states. Where only like layers are compared, one `LinearCKA` for each costs less.
    """

    def __init__(self) -> None:
        self._sides: list[_Side] = []
        self._between = torch.empty(0)

    @property
    def samples(self) -> int:
        """How many samples were added so far."""
        return self._sides[0].samples if self._sides else 0

    def update(self, x: States, y: States, mask: States | None = None) -> None:
        """Add a batch of samples.

        Args:
            x: [*layers, samples, width], of one model: sentences, words, or whatever is compared. Any leading
                dimensions are kept; none stand for one layer.
            y: the same samples in the same order, of the other model; its layers and width may differ.
            mask: True at the samples that count. Where it has more than one dimension, so have the samples: a mask
                [sentences, positions] goes with states [*layers, sentences, positions, width].

        Raises:
            InputError: The two sides differ in samples, this batch differs from earlier ones in layers or width, or a
                state is not finite. Nothing of the batch is counted then.
        """
        batch = paired_states(x, y, mask)
        if batch[0].shape[-2] == 0:
            return
        if not self._sides:
            self._sides = [_Side(name, side) for name, side in zip("xy", batch, strict=True)]
            self._between = batch[0].new_zeros([math.prod(side.moments.shape[:2]) for side in self._sides])
        for side, states in zip(self._sides, batch, strict=True):
            side.require_same_shape(states)
        rows_x, rows_y = (side.add(states) for side, states in zip(self._sides, batch, strict=True))
        self._between.addmm_(rows_x.T, rows_y)

    def similarity(self, debiased: bool = False) -> Tensor:
        """[*layers_x, *layers_y] in float64: CKA of every layer of x with every layer of y.

        Raises:
            InputError: Fewer than 3 samples (4 where `debiased`), or a layer whose states do not vary.
        """
        require_samples(self.samples, debiased)
        x, y = self._sides
        rows = self._between.view(*x.moments.shape[:2], *y.moments.shape[:2]).transpose(1, 2)
        # Pair by pair: centred copies of all moments at once would double the memory, and take longer.
        shared = torch.stack([_hsic(_centred(pair), debiased) for row in rows for pair in row])
        norms = torch.outer(x.norms(debiased), y.norms(debiased))
        return (shared.view_as(norms) / norms).reshape(x.layers + y.layers)


def linear_cka(x: States, y: States, debiased: bool = False) -> Tensor:
    """CKA with linear kernels of all layers of x with all layers of y: `LinearCKA` in one batch.

    Args:
        x: [*layers_x, samples, width_x].
        y: [*layers_y, samples, width_y], the same samples in the same order.
        debiased: take the unbiased estimate of HSIC.

    Returns:
        [*layers_x, *layers_y] in float64.

    Raises:
        InputError: As for `LinearCKA`.
    """
    cka = LinearCKA()
    cka.update(x, y)
    return cka.similarity(debiased)


def paired_states(x: States, y: States, mask: States | None = None) -> tuple[Tensor, Tensor]:
    """Both sides in float64, [*layers, samples, width], with the samples that the mask leaves out gone.

    Raises:
        InputError: A side has fewer than two dimensions, the two differ in samples, the mask does not fit, or a state
            is not finite.
    """
    chosen = None if mask is None else torch.as_tensor(mask).bool()
    x, y = (_side_states(name, torch.as_tensor(side), chosen) for name, side in (("x", x), ("y", y)))
    if x.shape[-2] != y.shape[-2]:
        problem = f"x has {x.shape[-2]} samples and y has {y.shape[-2]}"
        raise InputError(problem, "Row i of both must be the same sample, or a sentence and its translation.")
    return x, y


def require_samples(samples: int, debiased: bool) -> None:
    """Raise an `InputError` where there are too few samples for CKA to mean anything."""
    if debiased and samples < 4:
        reason = "the unbiased HSIC is divided by samples - 3"
        raise InputError(f"debiased CKA needs at least 4 samples, since {reason}; there are {samples}")
    if samples < 3:
        raise InputError(f"CKA needs at least 3 samples, since of any two it is 1; there are {samples}")


class _Side:
    """One of the two models: what its states were measured from, and their moments.

    Every state x is extended to a row [x, |x|^2, 1]. The sum of products of the rows of two layers then holds all that
    the biased and the debiased HSIC need, the number of samples included. States are measured from the mean of the
    first batch, near enough to their own mean for no digits to be lost when that is known and subtracted.
    """

    def __init__(self, name: str, first: Tensor):
        self.name, self.layers, self.width = name, first.shape[:-2], first.shape[-1]
        self.origin = first.reshape(-1, *first.shape[-2:]).mean(dim=1)  # [layers, width]
        self.moments = first.new_zeros(len(self.origin), self.width + 2, self.width + 2)

    @property
    def samples(self) -> int:
        return int(self.moments[0, -1, -1])

    def require_same_shape(self, states: Tensor) -> None:
        given, expected = [*states.shape[:-2], states.shape[-1]], [*self.layers, self.width]
        if given != expected:
            raise InputError(f"{self.name}: layers and width were {expected} in the first batch, now {given}")

    def add(self, states: Tensor) -> Tensor:
        """[samples, layers * (width + 2)]: the rows of these states, now part of the moments."""
        moved = states.reshape(-1, *states.shape[-2:]).transpose(0, 1) - self.origin
        squares = moved.square().sum(dim=-1, keepdim=True)
        rows = torch.cat([moved, squares, torch.ones_like(squares)], dim=-1)
        by_layer = rows.transpose(0, 1)
        self.moments.baddbmm_(by_layer.mT, by_layer)
        return rows.flatten(1)

    def norms(self, debiased: bool) -> Tensor:
        """[layers]: the square root of each layer's HSIC with itself."""
        mean_square = (self.origin + self.moments[:, :-2, -1] / self.samples).square().sum(dim=-1)
        centred = [_centred(moments) for moments in self.moments]
        spread = torch.stack([moments[-2, -1] for moments in centred])
        biased, hsic = (torch.stack([_hsic(moments, form) for moments in centred]) for form in (False, debiased))
        constant = spread <= ROUNDING**2 * self.samples * mean_square
        require_none(constant, self.name, self.layers, "its states are the same for all samples")
        require_none(hsic <= ROUNDING * biased, self.name, self.layers, NOTHING_DEBIASED)
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


def _side_states(name: str, states: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        states = _chosen(name, states, mask)
    if states.ndim < 2:
        raise InputError(f"{name} has the shape {list(states.shape)}; it must be [*layers, samples, width]")
    if not states.isfinite().all():
        raise InputError(f"{name} has a state that is NaN or infinite", "Look for a training that diverged.")
    return states.double()


def _chosen(name: str, states: Tensor, mask: Tensor) -> Tensor:
    if states.shape[-1 - mask.ndim : -1] != mask.shape:
        raise InputError(
            f"{name} has the shape {list(states.shape)}; the mask {list(mask.shape)} must fit before width"
        )
    return states[..., mask.to(states.device), :]
