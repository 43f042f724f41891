"""Scores against each other: differences paired by seed and sentence, and means of values by seed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from babelscope.core.inference import effect
from babelscope.core.intervals import Interval
from babelscope.core.samples import Samples
from babelscope.core.scores import MEASURES
from babelscope.report.model import Report
from babelscope.report.score import Score
from babelscope.report.shown import Shown

BySeed = Mapping[int, float]
Pair = tuple[Score, Score]
UNKNOWN = Interval(math.nan, None, None, None, 0)


def mean_by_seed(values: Iterable[BySeed]) -> BySeed:
    """The mean of several, at the seeds that all have."""
    listed = list(values)
    seeds = sorted(set[int].intersection(*map(set, listed))) if listed else []
    return {seed: sum(each[seed] for each in listed) / len(listed) for seed in seeds}


def differences(report: Report, pairs: Sequence[Pair]) -> tuple[Shown, list[Samples | None]]:
    """How much better the first of each pair of scores of one measure is, and how such differences are shown.

    Where the two sides divide a text into different tokens, perplexities are compared per character: per token they
    are of other things. None for a pair that shares no seed, or one of whose texts is then of unknown length.
    """
    if not _of_other_tokens(report, pairs):
        return Shown.of(pairs[0][0]), [first.samples - second.samples for first, second in pairs]
    sides = [(_per_character(report, first), _per_character(report, second)) for first, second in pairs]
    return Shown.of(pairs[0][0], "character"), [a - b if a and b else None for a, b in sides]


def level(report: Report, score: Score, per: str = "") -> Interval:
    """The mean of a score with its interval; of a perplexity per character, where differences are shown so.

    Where the text's length is not known then, it is not a number.
    """
    if not per:
        return score.interval
    losses = _per_character(report, score)
    measure = MEASURES[score.measure]
    return measure.taken_back(effect(*losses.times(score.sign).known).interval) if losses else UNKNOWN


def _of_other_tokens(report: Report, pairs: Sequence[Pair]) -> bool:
    if pairs[0][0].measure != "perplexity":
        return False
    return any(_divided_otherwise(report, first, second) for first, second in pairs)


def _divided_otherwise(report: Report, first: Score, second: Score) -> bool:
    """Whether two have other tokens; of those that an unfinished study has not counted yet, whether they may have."""
    one, other = report.size_of(first), report.size_of(second)
    if one and other:
        return one.tokens != other.tokens
    return bool(report.missing) and (first.encoder, first.surgery) != (second.encoder, second.surgery)


def _per_character(report: Report, score: Score) -> Samples | None:
    size = report.size_of(score)
    return size.losses_per("characters", score.samples, report.outcomes(size.key)) if size else None
