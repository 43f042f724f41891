"""What an encoder gains by languages that are brought in, each by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from babelscope.core.inference import Effect, benjamini_hochberg, effect
from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.corpora.codes import known_as
from babelscope.report.judged import Verdict, judged
from babelscope.report.model import Report
from babelscope.report.paired import differences
from babelscope.report.score import Score
from babelscope.report.shown import Shown
from babelscope.study.encoders import BringingIn

PAIRS = "pairs"
"""How many an alignment is of."""
_NO_MATTER = ("name", "encoder", "languages", "pairs", "after_tuning")
"""What may differ between encoders of one recipe, which differ in the sentences that they are brought in by."""

Sizes = Mapping[str, Mapping[str, int]]
"""Encoder -> the code of a language that is brought into it -> by how many pairs of sentences."""


class Gain(NamedTuple):
    """A language that was brought in, against the encoder as it is."""

    score: Score
    reference: Score
    pairs: int
    effect: Effect | None
    """How much better it is; None: no seed has both."""
    shown: Shown
    """How its size is told."""
    verdict: Verdict = Verdict.NOT_YET
    """Among those of a task."""

    @property
    def better(self) -> Interval | None:
        """How much better it is, as it is shown."""
        return self.shown.of_better(self.effect.interval) if self.effect else None


def sizes(rows: Sequence[Row]) -> Sizes:
    """How many pairs of sentences each language was brought in by."""
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        if row.measure == PAIRS:
            counts[row.encoder or ""][row.language or ""] = int(row.value)
    return counts


def gains(report: Report, rows: Sequence[Row]) -> list[Gain]:
    """By task of every language and encoder, in the order of scores; verdicts are corrected for all of a task's."""
    pairs = sizes(rows)
    return [
        gain._replace(verdict=verdict)
        for scores in report.by_task
        if (found := _gains(report, scores, pairs))
        for gain, verdict in zip(found, judged([gain.effect for gain in found], benjamini_hochberg), strict=True)
    ]


def _gains(report: Report, scores: Sequence[Score], pairs: Sizes) -> list[Gain]:
    as_it_is = {_setting(score, score.encoder): score for score in scores}
    found = []
    for score in scores:
        made = report.brought_in.get(score.encoder)
        reference = as_it_is.get(_setting(score, made.encoder)) if made else None
        counts = pairs.get(score.encoder, {})
        if reference and (own := known_as(score.language, counts)):  # by which code the encoder reads it
            shown, (difference,) = differences(report, [(score, reference)])
            found.append(Gain(score, reference, counts[own], effect(*difference.known) if difference else None, shown))
    return found


def _setting(score: Score, encoder: str) -> tuple[str | None, ...]:
    """What an encoder and its reference have in common."""
    return encoder, score.surgery, score.schedule, score.training, score.place


def recipe(made: BringingIn) -> str:
    """What is the same of encoders that differ in their sentences alone; empty for the usual one."""
    return made.model_dump_json(exclude=set(_NO_MATTER), exclude_defaults=True).strip("{}")
