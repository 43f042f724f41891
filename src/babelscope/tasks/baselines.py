"""Taggers that need no encoder: what a number must beat to mean something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from babelscope.core.errors import InputError
from babelscope.core.examples import Tagged
from babelscope.tasks.task import Score, ratio_score

Predict = Callable[[Sequence[str]], list[str]]
"""From the words of a sentence to their labels."""


def most_frequent_tag(sentences: Sequence[Tagged]) -> Predict:
    """Give every word the most frequent label of the training data (of equals, the first in the alphabet)."""
    label = _commonest(Counter(label for sentence in sentences for label in sentence.labels))
    return lambda words: [label] * len(words)


def word_majority(sentences: Sequence[Tagged]) -> Predict:
    """Give every word the label it has most often in the training data; a new word, the most frequent of all."""
    counts: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for word, label in zip(sentence.words, sentence.labels, strict=True):
            counts.setdefault(word, Counter())[label] += 1
    fallback = _commonest(sum(counts.values(), Counter()))
    best = {word: _commonest(labels) for word, labels in counts.items()}
    return lambda words: [best.get(word, fallback) for word in words]


def score_predictions(predict: Predict, sentences: Sequence[Tagged]) -> list[Score]:
    """Compare predicted with gold labels: accuracy, and the number of words."""
    correct = [
        sum(given == gold for given, gold in zip(predict(words), labels, strict=True)) for words, labels in sentences
    ]
    total = [len(words) for words, _ in sentences]
    return [ratio_score("accuracy", correct, total), Score("words", sum(total), "words")]


def _commonest(counts: Counter[str]) -> str:
    if not counts:
        raise InputError("no labelled word to learn a baseline from: the training data is empty")
    return min(counts, key=lambda label: (-counts[label], label))
