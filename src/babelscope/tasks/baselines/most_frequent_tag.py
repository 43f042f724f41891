"""One label for every word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from babelscope.core.examples import Tagged
from babelscope.tasks.baselines.base import BaselineRule, Predict, commonest


class MostFrequentTag(BaselineRule):
    """The most frequent label of the training data, for every word."""

    baseline: Literal["most-frequent-tag"] = "most-frequent-tag"
    suits: ClassVar[tuple[str, ...]] = ("tagging",)

    def fit(self, examples: Sequence[Any]) -> Predict:
        label = most_frequent_tag(examples)
        return lambda sentences: [[label] * len(words) for words in sentences]


def most_frequent_tag(sentences: Sequence[Tagged]) -> str:
    """The most frequent label of sentences; of equals, the first in the alphabet."""
    return commonest(Counter(label for sentence in sentences for label in sentence.labels))
