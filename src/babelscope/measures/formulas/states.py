"""The states of one language's sentences, with what comparisons with other languages need of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from torch import Tensor

from babelscope.encoders.cka import require_samples
from babelscope.encoders.kernels import gaussian_kernels, linear_kernels, unit_kernels

KERNELS: dict[str, Callable[[str, Tensor], Tensor]] = {"linear": linear_kernels, "RBF": gaussian_kernels}


class LanguageStates:
    """The states of one language's sentences; what comparisons need of them is computed once."""

    def __init__(self, language: str, states: Tensor):
        """`states` are [layers, sentences, width]."""
        self.language, self.states = language, states
        self.kernels = cache(self._kernels)
        self.units = cache(self._units)

    def _kernels(self, kind: str) -> Tensor:
        """[layers, sentences, sentences]."""
        return KERNELS[kind](self.language, self.states.double())

    def _units(self, kind: str, debiased: bool) -> Tensor:
        """[layers, sentences^2]: unit kernels."""
        require_samples(self.states.shape[-2], debiased)
        return unit_kernels(self.language, self.kernels(kind), debiased)
