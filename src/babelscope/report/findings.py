"""Findings in plain words, computed from the scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from babelscope.core.intervals import Interval, difference_interval
from babelscope.report.contrasts import Effect, verdict
from babelscope.report.kinds import SCORES
from babelscope.report.model import Score, points_of, scale


@dataclass(frozen=True)
class Difference:
    """An encoder against the same encoder untrained, on one place, in the unit of the score."""

    score: Score
    reference: Score
    interval: Interval

    @property
    def shows(self) -> bool:
        """Whether the encoder is better, the interval of the difference without zero."""
        return self.score.sign * self.interval.sign > 0

    @property
    def verdict(self) -> str:
        """What the interval says, in a word or two."""
        return verdict(self.interval, self.score.sign)


def differences(scores: Sequence[Score]) -> list[Difference]:
    """Every encoder against itself untrained, place by place."""
    pairs = [(score, _reference(score, scores)) for score in scores]
    return [
        Difference(score, reference, difference_interval(score.by_seed, reference.by_seed))
        for score, reference in pairs
        if reference is not None
    ]


def _reference(score: Score, scores: Sequence[Score]) -> Score | None:
    """The same encoder untrained, on the same place, tuned on the same and in the same way."""
    if score.surgery is not None:
        return None
    same = ("task", "measure", "encoder", "place", "training", "schedule")
    wanted = [getattr(score, name) for name in same]
    found = (other for other in scores if other.untrained and [getattr(other, n) for n in same] == wanted)
    return next(found, None)


def findings(scores: Sequence[Score]) -> list[str]:
    """Sentences that say what the scores of one task and measure show, and what they don't."""
    compared = differences(scores)
    intact = dict.fromkeys(score.condition for score in scores if score.surgery is None)
    against = dict.fromkeys(one.score.condition for one in compared)
    sources = dict.fromkeys(score.place for score in scores if score.is_source)
    training_language = "the training language" if len(sources) == 1 else "a training language"
    sentences = [_source(place, training_language, scores) for place in sources]
    sentences += [_order(name, scores) for name in against or intact]
    sentences += [_against_untrained(name, compared) for name in against]
    return [sentence for sentence in sentences if sentence]


def claims(found: Sequence[Effect]) -> list[str]:
    """For every claim, over all tasks (or on the one task there is), what shows and what does not."""
    groups: dict[str, list[Effect]] = {}
    for one in found:
        groups.setdefault(one.claim, []).append(one)
    return [f"{claim}: {'; '.join(_claimed(group))}." for claim, group in groups.items()]


def _claimed(found: Sequence[Effect]) -> Iterator[str]:
    overall = [one for one in found if not one.task] or found
    for one in overall:
        factor, symbol = scale(one.unit)
        where = "" if one.where == "all tasks" else f", {one.where}"
        size = f" ({_interval(one.interval, factor, f' {points_of(symbol)}')})" if one.interval else ""
        yield f"{one.verdict} for {one.first}{where}{size}"


def in_words(interval: Interval, unit: str) -> str:
    """`87.3% [86.1, 88.5]`; without the brackets where the interval is unknown."""
    factor, symbol = scale(unit)
    return _interval(interval, factor, symbol if symbol == "%" else f" {symbol}".rstrip())


def in_points(interval: Interval) -> str:
    """A difference of shares: `5.8 points [5.1, 6.4]`."""
    return _interval(interval, 100, " points")


def _interval(interval: Interval, factor: float, symbol: str) -> str:
    mean = f"{interval.mean * factor:.1f}{symbol}"
    if interval.low is None or interval.high is None:
        return _minus(mean)
    return _minus(f"{mean} [{interval.low * factor:.1f}, {interval.high * factor:.1f}]")


def _source(place: str, training_language: str, scores: Sequence[Score]) -> str:
    own = [score for score in scores if score.place == place and score.is_source]
    values = [f"{score.condition} {in_words(score.interval, score.unit)}" for score in own]
    return f"On {place}, {training_language}: {'; '.join(values)}."


def _order(condition: str, scores: Sequence[Score]) -> str:
    foreign = [score for score in scores if score.condition == condition and not score.is_source]
    if not foreign:
        return ""
    ranked = sorted(foreign, key=lambda score: -score.sign * score.interval.mean)
    places = [f"{score.place} {scale(score.unit)[0] * score.interval.mean:.1f}" for score in ranked]
    measure = SCORES[scores[0].measure]
    first = "highest" if measure.better == "higher" else "lowest"
    return f"Zero-shot {measure.name} of {condition}, {first} first: {'; '.join(places)}."


def _against_untrained(condition: str, compared: Sequence[Difference]) -> str:
    own = [one for one in compared if one.score.condition == condition]
    better = sorted((one for one in own if one.shows), key=lambda one: -abs(one.interval.mean))
    factor, symbol = scale(own[0].score.unit)
    values = [f"{one.score.place} {_interval(one.interval, factor, '')}" for one in better]
    unit = f"in {points_of(symbol)}, " if symbol else ""
    word = SCORES[own[0].score.measure].better
    text = f"Against itself untrained, {condition} is {word} on {len(better)} of {len(own)} languages"
    text += f" ({unit}with the interval of the difference, without zero): {'; '.join(values)}." if better else "."
    rest = [f"{one.score.place} ({one.verdict})" for one in own if not one.shows]
    return text + (f" On the others: {'; '.join(rest)}." if rest else "")


def _minus(text: str) -> str:
    return text.replace("-", "−")
