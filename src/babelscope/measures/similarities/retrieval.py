"""The share of sentences whose translation is found by cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from babelscope.measures.retrieval import mutual_retrieval, retrieval_accuracy
from babelscope.measures.similarities.table import similarity

if TYPE_CHECKING:
    from torch import Tensor

    from babelscope.measures.formulas.states import LanguageStates


@similarity("retrieval", unit="share")
def retrieval(source: LanguageStates, target: LanguageStates) -> Tensor:
    """Share of sentences whose nearest one by cosine is their translation."""
    return retrieval_accuracy(source.states, target.states)


@similarity("mutual retrieval", unit="share", variant=True)
def mutual(source: LanguageStates, target: LanguageStates) -> Tensor:
    """Share of sentences and translations that are each other's nearest by cosine."""
    return mutual_retrieval(source.states, target.states)
