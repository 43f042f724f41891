"""Scores: one table of what they are called, their units, which way is better, and how those of texts are computed.

A measure of texts takes predictions and gold values of equal shape [..., examples] and reduces the last axis, so that
the same code scores a test set and all its bootstrap resamples. It is a finite number for any input: what a constant
prediction leaves undefined is 0. They are those of GLUE (Wang et al., 2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Literal, NamedTuple

from babelscope.core.correlation import pearson, spearman
from babelscope.core.errors import InputError

if TYPE_CHECKING:
    from babelscope.core.correlation import Numbers
    from babelscope.core.intervals import Interval


def accuracy(predicted: Numbers, gold: Numbers) -> Numbers:
    """The share of examples with the gold class."""
    return (predicted == gold).mean(-1)


def f1(predicted: Numbers, gold: Numbers) -> Numbers:
    """F1 of class 1: 2 · hits / (predicted + gold ones); 0 where class 1 is neither predicted nor gold."""
    import numpy as np

    hits = ((predicted == 1) & (gold == 1)).sum(-1)
    ones = (predicted == 1).sum(-1) + (gold == 1).sum(-1)
    return 2 * hits / np.maximum(ones, 1)


def matthews(predicted: Numbers, gold: Numbers) -> Numbers:
    """Matthews correlation (1975) of two classes, -1 to 1; 0 where predicted or gold classes are all the same."""
    import numpy as np

    yes, truth = predicted == 1, gold == 1
    n = float(predicted.shape[-1])  # in floating point, as products of four counts leave the integers
    hits, a, b = (np.asarray(x.sum(-1), dtype=np.float64) for x in (yes & truth, yes, truth))
    square = a * (n - a) * b * (n - b)
    return np.where(square > 0, (hits * n - a * b) / np.sqrt(np.where(square > 0, square, 1)), 0.0)


def accuracy_f1(predicted: Numbers, gold: Numbers) -> Numbers:
    """GLUE's score of MRPC and QQP: the mean of accuracy and F1."""
    return (accuracy(predicted, gold) + f1(predicted, gold)) / 2


def pearson_spearman(predicted: Numbers, gold: Numbers) -> Numbers:
    """GLUE's score of STS-B: the mean of Pearson's and Spearman's correlations."""
    return (pearson(predicted, gold) + spearman(predicted, gold)) / 2


class Measure(NamedTuple):
    """What the numbers of a measure are."""

    name: str
    """As within a sentence: `F1`, `perplexity`."""
    about: str
    """What it is, in words."""
    unit: str = "share"
    better: Literal["higher", "lower"] = "higher"
    main: bool = False
    """Whether it can be the main score of a task; others stand beside one."""
    of: str = ""
    """Of texts: whether it compares classes, two classes, or numbers."""
    compute: Callable[[Numbers, Numbers], Numbers] | None = None
    """Of texts: from predictions and gold values to the measure. Others are computed where the models are."""
    geometric: bool = False
    """Whether it is averaged and compared by its logarithm: means are then geometric, and differences ratios."""

    @property
    def title(self) -> str:
        """The name as a heading."""
        return self.name[0].upper() + self.name[1:]

    @property
    def sign(self) -> int:
        """1 where a higher value is better, -1 where a lower one is."""
        return 1 if self.better == "higher" else -1

    @property
    def averaged(self) -> str:
        """What its mean over seeds is called."""
        return "geometric mean" if self.geometric else "mean"

    def compared(self, value: float) -> float:
        """What of a value is averaged over seeds and subtracted: itself, or its logarithm.

        Raises:
            ValueError: it has none, as it is not positive.
        """
        if self.geometric and value <= 0:
            raise ValueError(f"{self.name} is above 0, and a row has {value:g}; remove its result and run again")
        return math.log(value) if self.geometric else value

    def taken_back(self, interval: Interval) -> Interval:
        """A mean or a difference of what is compared, as people read it: a geometric mean, or a ratio of two."""
        return interval.exponential if self.geometric else interval

    def mean(self, values: Iterable[float]) -> float:
        """Of values: geometric, where that is what is compared."""
        from babelscope.core.intervals import exponential

        mean = fmean(map(self.compared, values))
        return exponential(mean) if self.geometric else mean

    def late_gain(self, values: Sequence[float]) -> float | None:
        """How much better the best of the last third of a curve is than the best before; None of a single value.

        Learning rates fall to 0, so that the last value hardly differs from the one before it.
        """
        late, goodness = math.ceil(len(values) / 3), [self.sign * self.compared(value) for value in values]
        return max(goodness[-late:]) - max(goodness[:-late]) if len(values) > 1 else None

    def interval(self, values: Sequence[float]) -> Interval:
        """The same of values that are independent, one a seed, with Student's t interval."""
        from babelscope.core.intervals import geometric_interval, student_t_interval

        return geometric_interval(values) if self.geometric else student_t_interval(values)


class Table(dict[str, Measure]):
    """Measures by name. What the first ones are stays, since rows are read by it; others can be entered again."""

    def __init__(self, own: dict[str, Measure]):
        super().__init__(own)
        self._own = frozenset(own)

    def __setitem__(self, name: str, measure: Measure) -> None:
        if name in self._own and self[name]._replace(compute=None) != measure._replace(compute=None):
            raise InputError(f"a measure is named {name!r} already ({self[name].about}); give yours another name")
        super().__setitem__(name, measure)


_CORRELATION = "correlation"
MEASURES = Table({
    "accuracy": Measure(
        "accuracy", "share of words, or of texts, with the gold label", main=True, of="classes", compute=accuracy
    ),
    "f1": Measure(
        "F1", "of named entities, by whole spans; of texts: of class 1", main=True, of="two classes", compute=f1
    ),
    "las": Measure("LAS", "share of words with the gold head and relation", main=True),
    "matthews": Measure(
        "Matthews correlation", "of predicted with gold classes", _CORRELATION, main=True, of="two classes",
        compute=matthews,
    ),
    "pearson": Measure(
        "Pearson correlation", "of predicted with gold numbers", _CORRELATION, main=True, of="numbers", compute=pearson
    ),
    "perplexity": Measure(
        "perplexity", "exp of the mean loss on fixed masked tokens", "", "lower", main=True, geometric=True
    ),
    "uas": Measure("UAS", "share of words with the gold head"),
    "las.nopunct": Measure("LAS without punctuation", "LAS without words tagged PUNCT or SYM", main=True),
    "uas.nopunct": Measure("UAS without punctuation", "UAS without words tagged PUNCT or SYM"),
    "precision": Measure("precision", "share of the predicted entities that are right"),
    "recall": Measure("recall", "share of the gold entities that are found"),
    "spearman": Measure(
        "Spearman correlation", "of predicted with gold numbers, by their ranks", _CORRELATION, of="numbers",
        compute=spearman,
    ),
    "accuracy_f1": Measure(
        "mean of accuracy and F1", "GLUE's score of MRPC and QQP", of="two classes", compute=accuracy_f1
    ),
    "pearson_spearman": Measure(
        "mean of Pearson and Spearman correlation", "GLUE's score of STS-B", _CORRELATION, of="numbers",
        compute=pearson_spearman,
    ),
    "coverage": Measure("coverage", "share of the words that were given a label"),
    "unknown": Measure("unknown words", "share of the words with a token unknown to the tokenizer", better="lower"),
    "words": Measure("words", "how many were scored", "words"),
    "examples": Measure("examples", "how many texts were scored", "texts"),
    "loss": Measure("loss", "mean over words, texts or masked tokens, in nats", "", "lower"),
})  # fmt: skip
"""By the name that rows have. A score that a kind of task brings is entered here by its file."""


def measure_of(name: str) -> Measure:
    """What is known of a measure; of one that is not in the table its name, and no unit."""
    return MEASURES.get(name, Measure(name, "", unit=""))
