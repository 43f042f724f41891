"""The majority class, or the mean number, for every text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from babelscope.core.errors import InputError
from babelscope.tasks.baselines.base import BaselineRule, Predict, commonest


class Majority(BaselineRule):
    """The most frequent label of the training data (of equals, the first in the alphabet), or the mean number."""

    baseline: Literal["majority"] = "majority"
    suits: ClassVar[tuple[str, ...]] = ("classification", "regression")

    def fit(self, examples: Sequence[Any]) -> Predict:
        if not examples:
            raise InputError("no labelled text for a baseline: the data is empty")
        if isinstance(examples[0].label, str):
            label: str | float = commonest(Counter(str(example.label) for example in examples))
        else:
            import numpy as np

            label = float(np.mean([float(example.label) for example in examples]))
        return lambda texts: [label] * len(texts)
