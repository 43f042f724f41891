"""What the scores of a task say, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from babelscope.core.inference import Effect, benjamini_hochberg, effect
from babelscope.core.intervals import Interval
from babelscope.core.scores import MEASURES
from babelscope.report.judged import Verdict, judged
from babelscope.report.score import Score, noun_of, scale
from babelscope.report.shown import Shown
from babelscope.report.words import bounded, in_words
from babelscope.study.verdicts import TOO_FEW


@dataclass(frozen=True)
class Difference:
    """An encoder against the same encoder untrained, on one place."""

    score: Score
    reference: Score
    effect: Effect
    """How much better it is, at the seeds that both have."""
    verdict: Verdict
    """Among the differences of all places."""

    @property
    def higher(self) -> Interval:
        """How much higher it is, as `Measure.compared` has it."""
        return self.effect.interval if self.score.sign > 0 else self.effect.interval.negative

    @property
    def interval(self) -> Interval:
        """The same in the unit of the score; of perplexities how many times as high."""
        return MEASURES[self.score.measure].taken_back(self.higher)

    @property
    def shows(self) -> bool:
        """Whether the encoder is better."""
        return self.verdict.sign == 1


def differences(scores: Sequence[Score]) -> list[Difference]:
    """Every encoder against itself untrained, place by place: the lines of a table (Benjamini and Hochberg 1995).

    Left out where the two share no seed: a difference of other seeds is not paired.
    """
    gains = [(pair, gain) for pair in _pairs(scores) if (gain := pair[0].samples - pair[1].samples)]
    effects = [effect(*gain.known) for _, gain in gains]
    verdicts = judged(effects, benjamini_hochberg)
    return [Difference(*pair, found, said) for (pair, _), found, said in zip(gains, effects, verdicts, strict=True)]


def _pairs(scores: Sequence[Score]) -> list[tuple[Score, Score]]:
    """Every score with its reference, as far as it has one."""
    return [(score, reference) for score in scores if (reference := _reference(score, scores))]


def _reference(score: Score, scores: Sequence[Score]) -> Score | None:
    """The same encoder untrained, on the same place, tuned on the same and in the same way."""
    if score.surgery is not None:
        return None
    same = ("task", "measure", "encoder", "place", "training", "schedule")
    wanted = [getattr(score, name) for name in same]
    references = (other for other in scores if other.untrained and [getattr(other, n) for n in same] == wanted)
    return next(references, None)


def findings(scores: Sequence[Score]) -> list[str]:
    """Sentences that say what the scores of one task and measure show, and what they don't."""
    compared = differences(scores)
    intact = dict.fromkeys(score.condition for score in scores if score.surgery is None)
    against = dict.fromkeys(difference.score.condition for difference in compared)
    sources = dict.fromkeys(score.place for score in scores if score.is_source)
    training_language = "the training language" if len(sources) == 1 else "a training language"
    sentences = [_source(place, training_language, scores) for place in sources]
    referred = dict.fromkeys(score.condition for score, _ in _pairs(scores))
    sentences += [_order(name, scores) for name in referred or intact]
    sentences += [_against_untrained(name, compared) for name in against]
    return [sentence for sentence in sentences if sentence]


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
    measure = MEASURES[scores[0].measure]
    first = "highest" if measure.better == "higher" else "lowest"
    return f"Zero-shot {measure.name} of {condition}, {first} first: {'; '.join(places)}."


def _against_untrained(condition: str, compared: Sequence[Difference]) -> str:
    own = [difference for difference in compared if difference.score.condition == condition]
    if all(difference.verdict is Verdict.TOO_FEW for difference in own):
        return _left_open(condition, own)
    better = sorted(
        (difference for difference in own if difference.shows), key=lambda difference: -abs(difference.higher.mean)
    )
    shown = Shown.of(own[0].score)
    values = [f"{each.score.place} {_size(each, shown)}" for each in better]
    what = f"with the interval of the {'ratio' if shown.as_ratio else 'difference'}"
    unit = f"in {shown.unit_in_words}, " if shown.unit_in_words else ""
    text = (
        f"Against itself untrained, {condition} shows to be {shown.measure.better} on {len(better)} of {len(own)} "
        f"{noun_of([difference.score for difference in own])}s"
    )
    text += f" ({unit}{what}): {'; '.join(values)}." if better else "."
    rest = [f"{each.score.place} {_size(each, shown)} ({each.verdict})" for each in own if not each.shows]
    others = "On the others" if better else f"The differences, in {shown.unit_in_words}".removesuffix(", in ")
    return text + (f" {others}: {'; '.join(rest)}." if rest else "")


def _left_open(condition: str, own: Sequence[Difference]) -> str:
    """The differences of which nothing can be said, since there are too few seeds."""
    shown = Shown.of(own[0].score)
    sizes = "; ".join(f"{each.score.place} {_size(each, shown)}" for each in own)
    unit = f", in {shown.unit_in_words}" if shown.unit_in_words else ""
    return f"Beside itself untrained, there are {TOO_FEW} whether {condition} is {shown.measure.better}{unit}: {sizes}."


def _size(difference: Difference, shown: Shown) -> str:
    if shown.as_ratio:
        return shown.in_words(difference.higher)
    return bounded(difference.interval, scale(shown.unit)[0])
