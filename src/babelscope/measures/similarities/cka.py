"""Centred kernel alignment (CKA) of sentence states, in four forms (Kornblith et al., 2019; Muller et al., 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from babelscope.measures.similarities.table import similarity

if TYPE_CHECKING:
    from torch import Tensor

    from babelscope.measures.formulas.states import LanguageStates

QUARTERS = 4


@similarity("linear CKA (biased)", variant=True)
def linear(source: LanguageStates, target: LanguageStates) -> Tensor:
    """CKA of dot products; few sentences raise it."""
    return _aligned(source, target, "linear", debiased=False)


@similarity("linear CKA (debiased)")
def linear_debiased(source: LanguageStates, target: LanguageStates) -> Tensor:
    """CKA of dot products, which few sentences do not raise."""
    return _aligned(source, target, "linear", debiased=True)


@similarity("RBF CKA (biased)")
def rbf(source: LanguageStates, target: LanguageStates) -> Tensor:
    """CKA with Gaussian kernels of the median bandwidth, as published; few sentences raise it."""
    return _aligned(source, target, "RBF", debiased=False)


@similarity("RBF CKA (debiased)", variant=True)
def rbf_debiased(source: LanguageStates, target: LanguageStates) -> Tensor:
    """CKA with Gaussian kernels of the median bandwidth, which few sentences do not raise."""
    return _aligned(source, target, "RBF", debiased=True)


@similarity("RBF CKA (overlapping quarters)", variant=True)
def rbf_of_quarters(source: LanguageStates, target: LanguageStates) -> Tensor:
    """The mean of RBF CKA (biased) over four runs of a quarter of the sentences, as published; few sentences raise it.

    Each begins one sentence after the one before (Muller et al., 2021, their code).
    """
    import torch

    from babelscope.measures.formulas.states import LanguageStates

    quarter = source.states.shape[-2] // QUARTERS

    def run(side: LanguageStates, first: int) -> LanguageStates:
        return LanguageStates(side.language, side.states[:, first : first + quarter])

    aligned = [rbf(run(source, first), run(target, first)) for first in range(QUARTERS)]
    return torch.stack(aligned).mean(dim=0)


def _aligned(source: LanguageStates, target: LanguageStates, kind: str, debiased: bool) -> Tensor:
    """[layers]: the dot product of unit kernels.

    Raises:
        InputError: a layer whose states do not vary, or too few sentences.
    """
    return (source.units(kind, debiased) * target.units(kind, debiased)).sum(dim=-1)
