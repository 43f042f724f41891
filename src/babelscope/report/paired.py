"""Scores against each other: differences paired by seed and sentence, and means of values by seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from babelscope.core.samples import Samples
from babelscope.report.model import Report
from babelscope.report.score import Score
from babelscope.report.shown import Shown

BySeed = Mapping[int, float]
Pair = tuple[Score, Score]


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


def _of_other_tokens(report: Report, pairs: Sequence[Pair]) -> bool:
    if pairs[0][0].measure != "perplexity":
        return False
    sizes = [(report.size_of(first), report.size_of(second)) for first, second in pairs]
    return any(a.tokens != b.tokens for a, b in sizes if a and b)


def _per_character(report: Report, score: Score) -> Samples | None:
    size = report.size_of(score)
    return size.losses_per("characters", score.samples, report.outcomes(size.key)) if size else None
