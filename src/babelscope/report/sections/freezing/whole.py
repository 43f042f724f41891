"""Scores with every number of frozen layers, over places, and how much better each is than the least."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from babelscope.core.inference import Known
from babelscope.core.intervals import Interval
from babelscope.core.samples import Samples, shared_seeds
from babelscope.core.scores import MEASURES
from babelscope.report.judged import table_over_places
from babelscope.report.score import Score

Whole = Mapping[str, Mapping[int, Score]]
"""By place: the scores of those that have every number of frozen layers."""


def whole(places: Whole, numbers: Sequence[int]) -> Whole:
    """The places that have every N, so that means are over the same ones."""
    return {place: scores for place, scores in places.items() if len(scores) == len(numbers)}


def over_least(places: Whole, numbers: Sequence[int]) -> list[Known] | None:
    """For each number of frozen layers but the least, how much better it is, all at the same seeds and sentences.

    None without a seed of all.
    """
    if not (seeds := seeds_of(places)):
        return None
    tables = [_over_least(places, number, numbers[0], seeds) for number in numbers[1:]]
    known = [table for table in tables if table is not None]
    if len({each.table.shape for each in known}) > 1:  # some kept no sentences: what is known of all is their mean
        known = [each._replace(table=each.table.mean(axis=1, keepdims=True)) for each in known]
    return known if len(known) == len(tables) else None


def _over_least(places: Whole, number: int, least: int, seeds: Sequence[int]) -> Known | None:
    by_language: dict[str, list[Samples]] = defaultdict(list)
    for scores in places.values():
        difference = scores[number].samples.at(seeds) - scores[least].samples.at(seeds)
        if difference is None:
            return None
        by_language[scores[number].itself].append(difference)
    return table_over_places(by_language)


def seeds_of(places: Whole) -> tuple[int, ...] | None:
    """Those that all scores have."""
    return shared_seeds([score.samples for by_number in places.values() for score in by_number.values()])


def mean_over(places: Whole, number: int, seeds: Sequence[int] | None) -> float:
    """Over languages, at these seeds (None: at its own); one with several data sets counts once."""
    by_language: dict[str, list[float]] = defaultdict(list)
    for scores in places.values():
        score = scores[number]
        samples = score.samples.at(seeds) if seeds else score.samples
        by_language[score.itself].append(score.sign * samples.mean)
    mean = fmean(map(fmean, by_language.values()))
    measure = MEASURES[next(iter(places.values()))[number].measure]
    return measure.taken_back(Interval(mean, None, None, None, 0)).mean


def count_of(places: Whole) -> int:
    """Of how many languages they are."""
    return len({score.itself for scores in places.values() for score in scores.values()})


def frozen_in_words(count: int) -> str:
    """What has so many of its first layers frozen."""
    named = {-1: "nothing frozen", 0: "the embeddings frozen", 1: "one layer frozen"}
    return named.get(count, f"{count} layers frozen")
