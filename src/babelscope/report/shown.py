"""How differences of scores are shown: in the unit of the score, shares in points; those of perplexities as ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass

from babelscope.core.intervals import Interval
from babelscope.core.scores import MEASURES, Measure, measure_of
from babelscope.report.score import Score, points_of, scale
from babelscope.report.tables import Cell, bounds_cell, number_cell
from babelscope.report.words import bounded

RATIOS = (
    "Perplexities are compared by their logarithm, the loss per token: × is the ratio of the two, of their geometric "
    "means over seeds. It is below ×1 where the first is lower, and so better. “Per character”: of perplexities per "
    "character, since the two divide the text into different tokens."
)
"""For the note of a table that has such ratios."""


SEVERAL = measure_of("")
"""What a mean over measures is of."""


@dataclass(frozen=True)
class Shown:
    """How differences of one measure are shown. They are given as `Measure.compared` has them."""

    unit: str
    """Of the scores, as rows have it."""
    measure: Measure = SEVERAL
    per: str = ""
    """`character`, where perplexities are not compared per token."""

    @classmethod
    def of(cls, score: Score, per: str = "") -> Shown:
        """As those of this score and others of its measure."""
        return cls(score.unit, MEASURES[score.measure], per)

    @property
    def as_ratio(self) -> bool:
        """Whether they are ratios."""
        return self.measure.geometric

    @property
    def unit_in_words(self) -> str:
        """`points`; empty where the unit of the score has no name, and of ratios."""
        return points_of(scale(self.unit)[1])

    def of_better(self, better: Interval) -> Interval:
        """From how much better the first is: a ratio is of the two as rows have them, whatever is better."""
        return better.negative if self.as_ratio and self.measure.sign < 0 else better

    def cells(self, difference: Interval | None, form: str = "+.1f") -> list[Cell]:
        """How large it is, and its interval; empty where it is not known."""
        if self.as_ratio and difference is not None:
            ratio = difference.exponential
            return [Cell(f"{_times(ratio.mean)}{self._per}", ratio.mean), Cell(_ends(ratio), ratio.low)]
        factor, _ = scale(self.unit)
        return [number_cell(factor * difference.mean if difference else None, form), bounds_cell(difference, factor)]

    def cell(self, difference: Interval | None, form: str) -> Cell:
        """Both in one."""
        size, ends = self.cells(difference, form)
        return Cell(f"{size.text} {ends.text}".strip(), size.number)

    def in_words(self, difference: Interval) -> str:
        """`5.8 points [5.1, 6.4]`, `×0.85 [0.80, 0.91]`."""
        if self.as_ratio:
            ratio = difference.exponential
            return f"{_times(ratio.mean)}{self._per} {_ends(ratio)}".rstrip()
        return bounded(difference, scale(self.unit)[0], f" {self.unit_in_words}".rstrip())

    @property
    def _per(self) -> str:
        return f" per {self.per}" if self.per else ""

    def spread(self, deviation: float | None) -> Cell:
        """A standard deviation; of ratios, and of what has a geometric mean, it is a factor."""
        if self.as_ratio and deviation is not None:
            return Cell(_times(math.exp(deviation)), math.exp(deviation))
        return number_cell(None if deviation is None else scale(self.unit)[0] * deviation, ".2f")

    def margin(self, given: float | None) -> float | None:
        """What a study declares to be too small to count: in the unit of the score, of ratios a share (0.02: 2%)."""
        return math.log1p(given) if given is not None and self.as_ratio else given

    def margin_in_words(self, given: float) -> str:
        """`2 points`, `2%`."""
        if self.as_ratio:
            return f"{100 * given:g}%"
        return f"{scale(self.unit)[0] * given:g} {self.unit_in_words}".rstrip()


def _times(ratio: float) -> str:
    return f"×{_number(ratio, ratio)}"


def _ends(ratio: Interval) -> str:
    if ratio.low is None or ratio.high is None:
        return ""
    return f"[{_number(ratio.low, ratio.mean)}, {_number(ratio.high, ratio.mean)}]"


def _number(ratio: float, mean: float) -> str:
    """Two digits where it is very small or large; else three decimals where the mean is near 1, and two elsewhere."""
    if not 0.1 <= ratio < 10_000:
        return f"{ratio:.2g}"
    return f"{ratio:.3f}" if 0.9 < mean < 1.1 else f"{ratio:.2f}"
