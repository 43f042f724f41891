"""How alike two languages' states of parallel sentences are, layer by layer: CKA in four forms, and retrieval."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from torch import Tensor

from babelscope.encoders.cka import require_samples
from babelscope.encoders.kernels import gaussian_kernels, linear_kernels, unit_kernels
from babelscope.measures.retrieval import mutual_retrieval, retrieval_accuracy

_KERNELS: dict[str, Callable[[str, Tensor], Tensor]] = {"linear": linear_kernels, "RBF": gaussian_kernels}


class LanguageStates:
    """The states of one language's sentences; what comparisons need of them is computed once."""

    def __init__(self, language: str, states: Tensor):
        """`states` are [layers, sentences, width]."""
        self.language, self.states = language, states
        self.kernels = cache(self._kernels)
        self.units = cache(self._units)

    def _kernels(self, kind: str) -> Tensor:
        return _KERNELS[kind](self.language, self.states.double())

    def _units(self, kind: str, debiased: bool) -> Tensor:
        """[layers, sentences^2]: unit kernels."""
        require_samples(self.states.shape[-2], debiased)
        return unit_kernels(self.language, self.kernels(kind), debiased)


def similarity(measure: str, source: LanguageStates, target: LanguageStates) -> Tensor:
    """[layers]: a measure of like layers of two languages; sentence i of the one translates sentence i of the other.

    CKA is as `linear_cka` and `rbf_cka` compute it, of unit kernels.

    Raises:
        InputError: A layer whose states do not vary, or too few sentences for CKA.
    """
    if measure in _SEARCHES:
        return _SEARCHES[measure](source.states, target.states)
    kind, debiased = measure.split()[0], measure.endswith("(debiased)")
    return (source.units(kind, debiased) * target.units(kind, debiased)).sum(dim=-1)


_SEARCHES = {"retrieval": retrieval_accuracy, "mutual retrieval": mutual_retrieval}
