"""Sentence tasks without an encoder: the majority class, and what counts of words alone can tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from babelscope.core.errors import InputError
from babelscope.core.examples import SentencePair
from babelscope.tasks.classify import gold_values
from babelscope.tasks.metrics import measure_of, score
from babelscope.tasks.task import Score
from babelscope.tasks.texts import Text, text_of

PredictTexts = Callable[[Sequence[Text]], list[str] | list[float]]
"""From texts to a label each, or a number each."""

_WORD = re.compile(r"\w+|[^\w\s]")


def majority(examples: Sequence[SentencePair]) -> PredictTexts:
    """Give every text the most frequent label (of equals, the first in the alphabet), or the mean number."""
    _check(examples)
    if isinstance(examples[0].label, str):
        counts = Counter(str(example.label) for example in examples)
        label = min(counts, key=lambda label: (-counts[label], label))
        return lambda texts: [label] * len(texts)
    mean = float(np.mean([float(example.label) for example in examples]))
    return lambda texts: [mean] * len(texts)


def bag_of_words(examples: Sequence[SentencePair]) -> PredictTexts:
    """Logistic regression, or ridge regression on numbers, over counts of words (`word_counts`).

    Both are regularised with scikit-learn's usual weight of 1; they have no random part.
    """
    _check(examples)
    if len({example.label for example in examples}) == 1:
        return majority(examples)
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline

    of_classes = isinstance(examples[0].label, str)
    regression = LogisticRegression(max_iter=2000) if of_classes else Ridge(solver="lsqr")
    pipeline = make_pipeline(DictVectorizer(), regression)
    pipeline.fit([word_counts(text_of(one)) for one in examples], [one.label for one in examples])
    # The regression refuses to predict nothing.
    return lambda texts: pipeline.predict([word_counts(text) for text in texts]).tolist() if texts else []


def word_counts(text: Text) -> dict[str, int]:
    """How often each word (lowercased, punctuation marks as words) is in a text; the order is lost.

    Of a pair, the words of either sentence are counted apart, and so are those that both have, the first alone has,
    and the second alone has.
    """
    if isinstance(text, str):
        return Counter(_WORD.findall(text.lower()))
    first, second = (Counter(_WORD.findall(sentence.lower())) for sentence in text)
    bags = {"1": first, "2": second, "both": first & second, "only 1": first - second, "only 2": second - first}
    return {f"{name} {word}": count for name, bag in bags.items() for word, count in bag.items()}


def score_texts(
    predict: PredictTexts, examples: Sequence[SentencePair], labels: Sequence[str], measures: Sequence[str]
) -> list[Score]:
    """Compare predictions with gold labels, or numbers where there are no `labels`; as `evaluate_classifier` does."""
    _check(examples)
    for measure in measures:
        measure_of(measure, len(labels))
    gold = gold_values(examples, labels)
    given = predict([text_of(example) for example in examples])
    predicted = gold_values([SentencePair("", None, value) for value in given], labels)
    return [score(measure, predicted, gold) for measure in measures]


def _check(examples: Sequence[SentencePair]) -> None:
    if not examples:
        raise InputError("no labelled text for a baseline: the data is empty")
