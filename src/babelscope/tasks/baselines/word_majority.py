"""The label that a word has most often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from babelscope.tasks.baselines.base import BaselineRule, Predict, commonest


class WordMajority(BaselineRule):
    """The label that a word has most often in the training data; for a new word, the most frequent of all."""

    baseline: Literal["word-majority"] = "word-majority"
    suits: ClassVar[tuple[str, ...]] = ("tagging", "entities")

    def fit(self, examples: Sequence[Any]) -> Predict:
        counts: dict[str, Counter[str]] = {}
        for sentence in examples:
            for word, label in zip(sentence.words, sentence.labels, strict=True):
                counts.setdefault(word, Counter())[label] += 1
        fallback = commonest(sum(counts.values(), Counter()))
        best = {word: commonest(labels) for word, labels in counts.items()}
        return lambda sentences: [[best.get(word, fallback) for word in words] for words in sentences]
