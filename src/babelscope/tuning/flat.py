"""Many parameters as one tensor, so that clipping and the optimizer take one step instead of a hundred small ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def flattened(groups: Sequence[Sequence[nn.Parameter]]) -> Iterator[list[nn.Parameter]]:
    """One flat parameter for each group, while the block lasts; the parameters given, and gradients, are views of it.

    Zero the gradients in place (`set_to_none=False`), or the views are lost.
    """
    flats = [_flatten(group) for group in groups]
    try:
        yield flats
    finally:
        for parameter in (parameter for group in groups for parameter in group):
            parameter.data, parameter.grad = parameter.data.clone(), None


@torch.no_grad()
def _flatten(parameters: Sequence[nn.Parameter]) -> nn.Parameter:
    pieces = [parameter.flatten() for parameter in parameters]
    flat = nn.Parameter(torch.cat(pieces) if pieces else torch.zeros(0))
    flat.grad = torch.zeros_like(flat)
    start = 0
    for parameter in parameters:
        place = slice(start, start + parameter.numel())
        parameter.data = flat.data[place].view_as(parameter)
        parameter.grad = flat.grad[place].view_as(parameter)
        start += parameter.numel()
    return flat
