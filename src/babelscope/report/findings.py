"""Findings in plain words, computed from the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from babelscope.report.model import SCORES, Score, reference_of, scale
from babelscope.statistics import Interval, difference_interval


@dataclass(frozen=True)
class Difference:
    """An encoder against the same encoder untrained, on one place, in the unit of the score."""

    score: Score
    reference: Score
    interval: Interval

    @property
    def shows(self) -> bool:
        """Whether the encoder is above, the two intervals over seeds apart."""
        return self.interval.mean > 0 and self.score.interval.apart(self.reference.interval)

    @property
    def verdict(self) -> str:
        """What the two intervals say, in a word or two."""
        if self.score.interval.low is None or self.reference.interval.low is None:
            return "cannot be said: one seed"
        if self.shows:
            return "shows"
        return "the reverse shows" if self.score.interval.apart(self.reference.interval) else "does not show"


def differences(scores: Sequence[Score]) -> list[Difference]:
    """Every encoder against itself untrained, place by place."""
    pairs = [(score, reference_of(score, scores)) for score in scores]
    return [
        Difference(score, reference, difference_interval(score.by_seed, reference.by_seed))
        for score, reference in pairs
        if reference is not None
    ]


def findings(scores: Sequence[Score]) -> list[str]:
    """Sentences that say what the scores of one task and measure show, and what they don't."""
    conditions = dict.fromkeys(score.condition for score in scores if score.surgery is None)
    by_condition = {name: [score for score in scores if score.condition == name] for name in conditions}
    trained = {name: found for name, found in by_condition.items() if any(reference_of(s, scores) for s in found)}
    sentences = [_source(name, found) for name, found in by_condition.items()]
    sentences += [_order(name, found) for name, found in (trained or by_condition).items()]
    sentences += [_against_untrained(name, differences(scores)) for name in trained]
    return [sentence for sentence in sentences if sentence]


def in_words(interval: Interval, unit: str, *, sign: bool = False) -> str:
    """`87.3% [86.1, 88.5]`; without the brackets where the interval is unknown."""
    factor, symbol = scale(unit)
    form = "+.1f" if sign else ".1f"
    if symbol != "%" or sign:
        symbol = " points" if symbol == "%" else f" {symbol}".rstrip()
    mean = f"{interval.mean * factor:{form}}{symbol}"
    if interval.low is None or interval.high is None:
        return mean
    return f"{mean} [{interval.low * factor:{form}}, {interval.high * factor:{form}}]"


def _source(condition: str, scores: list[Score]) -> str:
    own = [f"{in_words(score.interval, score.unit)} on {score.place}" for score in scores if score.is_source]
    if not own:
        return ""
    return f"In the language it was trained on, {condition} has {_title(scores)} {_listed(own)}."


def _order(condition: str, scores: list[Score]) -> str:
    ranked = sorted((score for score in scores if not score.is_source), key=lambda score: -score.interval.mean)
    if len(ranked) < 2:
        return ""
    places = [f"{score.place} {_short(score)}" for score in ranked]
    return f"Zero-shot {_title(scores)} of {condition}, highest first: {', '.join(places)}."


def _against_untrained(condition: str, found: list[Difference]) -> str:
    own = [one for one in found if one.score.condition == condition]
    above = [f"{one.score.place} {in_words(one.interval, one.score.unit, sign=True)}" for one in own if one.shows]
    rest = [f"{one.score.place} ({one.verdict})" for one in own if not one.shows]
    text = f"{condition} is above itself untrained, intervals apart, on {len(above)} of {len(own)} languages"
    text += f": {', '.join(above)}." if above else "."
    return text + (f" Not on {_listed(rest)}." if rest else "")


def _short(score: Score) -> str:
    factor, symbol = scale(score.unit)
    return f"{score.interval.mean * factor:.1f}{symbol}"


def _title(scores: Sequence[Score]) -> str:
    return SCORES[scores[0].measure].lower()


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
