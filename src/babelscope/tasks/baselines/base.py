"""What a baseline says of itself, and the table of baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from babelscope.core.errors import InputError
from babelscope.core.registry import Registered

Predict = Callable[[Sequence[Any]], list[Any]]
"""From inputs (of each sentence its words, or each text) to a prediction each."""


class BaselineRule(Registered):
    """A rule or a small model, learned from examples."""

    by: ClassVar[str] = "baseline"
    suits: ClassVar[tuple[str, ...]]
    """The kinds of tasks that it can predict, by name; kinds derived from these too."""

    def fit(self, examples: Sequence[Any]) -> Predict:
        """What it learns from training examples, in the form that the kind's `gold` gives.

        Raises:
            InputError: there is no example.
        """
        raise NotImplementedError


def commonest(counts: Counter[str]) -> str:
    """The most frequent label; of equals, the first in the alphabet."""
    if not counts:
        raise InputError("no labelled word to learn a baseline from: the training data is empty")
    return min(counts, key=lambda label: (-counts[label], label))
