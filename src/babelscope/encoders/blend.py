"""Models between models: affine combinations of the weights of several models of one shape.

Wu, Van Durme and Dredze (2022), section 3.1, have two models on a line (equations 1 and 2) and three on a plane
(equation 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from babelscope.core.errors import InputError
from babelscope.core.seeds import derive_seed

ROUNDED = 1e-10
"""How far from what it should be a coefficient may be, which comes rounded to ten digits. A sum of NaN is further."""


class Blend:
    """A working model that takes the weights of any combination of others, in place.

    Nothing is loaded or built from one combination to the next: the model's weights become views of one tensor, and
    so are the corners kept, so that a move is one sum of long vectors.

    Args:
        model: its weights change; it is on the device that it will be used on.
        corners: the weights to combine by the names of the model's parameters, tied ones once. They are copied.
        names: the parameters that are combined; None: all. The others stay as they are, and so do buffers.

    Raises:
        InputError: there are fewer than two corners, or a name or a shape is not the model's.
    """

    def __init__(self, model: nn.Module, corners: Sequence[Mapping[str, Tensor]], names: Iterable[str] | None = None):
        if len(corners) < 2:
            raise InputError(f"{len(corners)} models to combine: give two or more")
        weights = dict(model.named_parameters())
        chosen = list(weights if names is None else dict.fromkeys(names))
        _check(weights, corners, chosen)
        self.model = model
        self._corners = [_flat(corner[name].to(weights[name]) for name in chosen) for corner in corners]
        self._weights = torch.empty_like(self._corners[0])
        _make_views([weights[name] for name in chosen], self._weights)
        self.move([1.0] + [0.0] * (len(corners) - 1))

    @torch.no_grad()
    def move(self, coefficients: Sequence[float]) -> None:
        """Set the weights to the sum of the corners, each times its coefficient; where one alone is 1, to its bits.

        Raises:
            InputError: there is not one coefficient a corner, or they do not add up to 1.
        """
        if len(coefficients) != len(self._corners) or not abs(sum(coefficients) - 1) <= ROUNDED * len(coefficients):
            raise InputError(f"coefficients {list(coefficients)}: give {len(self._corners)} that add up to 1")
        terms = [(part, corner) for part, corner in zip(coefficients, self._corners, strict=True) if part]
        if len(terms) == 2:  # in one pass over memory, which is what takes the time
            (_, start), (part, end) = terms
            torch.lerp(start, end, part, out=self._weights)
            return
        part, corner = terms[0]
        torch.mul(corner, part, out=self._weights)  # a product with 1 has the same bits, a sum with 0 need not
        for part, corner in terms[1:]:
            self._weights.add_(corner, alpha=part)


def random_direction(weights: Mapping[str, Tensor], seed: int) -> dict[str, Tensor]:
    """A random direction with filter normalisation (Li et al., 2018): each row is as long as the weights' own row.

    Rows are those of matrices, one a neuron (of embeddings, one a piece). Biases and normalisation weights do not
    move: their direction is 0.
    """
    direction = {}
    for name, weight in weights.items():
        generator = torch.Generator().manual_seed(derive_seed(seed, "direction", name))
        drawn = torch.randn(weight.shape, generator=generator)
        if weight.dim() < 2 or not weight.is_floating_point():  # what counts positions is no weight
            direction[name] = torch.zeros_like(weight)
            continue
        rows, own = drawn.flatten(1), weight.cpu().float().flatten(1)
        scale = own.norm(dim=1, keepdim=True) / rows.norm(dim=1, keepdim=True)
        direction[name] = (rows * scale).view(weight.shape)
    return direction


def moved(weights: Mapping[str, Tensor], direction: Mapping[str, Tensor], distance: float = 1.0) -> dict[str, Tensor]:
    """Weights some way along a direction: a corner, such as `Blend` takes, that no training led to."""
    return {name: weight + distance * direction[name].to(weight) for name, weight in weights.items()}


def _check(weights: Mapping[str, Tensor], corners: Sequence[Mapping[str, Tensor]], chosen: Sequence[str]) -> None:
    if strange := [name for name in chosen if name not in weights]:
        raise InputError(f"{strange[0]}: the model has no such weight")
    for number, corner in enumerate(corners):
        for name in chosen:
            weight, shape = weights[name], tuple(corner[name].shape) if name in corner else "missing"
            if shape != tuple(weight.shape):
                raise InputError(
                    f"model {number + 1} to combine: {name} is {shape}; the working model's is {tuple(weight.shape)}"
                )


def _flat(pieces: Iterable[Tensor]) -> Tensor:
    return torch.cat([piece.detach().flatten() for piece in pieces])


def _make_views(parameters: Sequence[nn.Parameter], flat: Tensor) -> None:
    start = 0
    for parameter in parameters:
        parameter.data = flat[start : start + parameter.numel()].view_as(parameter)
        start += parameter.numel()
