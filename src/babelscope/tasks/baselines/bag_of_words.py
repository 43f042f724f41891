"""What counts of words alone can tell of a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from babelscope.core.examples import Text
from babelscope.tasks.baselines.base import BaselineRule, Predict
from babelscope.tasks.baselines.majority import Majority

_WORD = re.compile(r"\w+|[^\w\s]")


class BagOfWords(BaselineRule):
    """Logistic regression, or ridge regression on numbers, over counts of words (`word_counts`).

    Both are regularised with scikit-learn's usual weight of 1; they have no random part.
    """

    baseline: Literal["bag-of-words"] = "bag-of-words"
    suits: ClassVar[tuple[str, ...]] = ("classification", "regression")

    def fit(self, examples: Sequence[Any]) -> Predict:
        if len({example.label for example in examples}) < 2:
            return Majority().fit(examples)
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.pipeline import make_pipeline

        of_classes = isinstance(examples[0].label, str)
        regression = LogisticRegression(max_iter=2000) if of_classes else Ridge(solver="lsqr")
        pipeline = make_pipeline(DictVectorizer(), regression)
        pipeline.fit([word_counts(example.text) for example in examples], [example.label for example in examples])
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
