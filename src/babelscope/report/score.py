"""A score of a condition on a data set, in the units and words that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.core.samples import Samples
from babelscope.core.scores import MEASURES
from babelscope.core.tasks import TASKS
from babelscope.corpora.codes import language_of, written_language
from babelscope.corpora.letters import split_name

BOUNDS = {"share": (0.0, 1.0), "correlation": (-1.0, 1.0)}
"""By unit, what no score is below and above."""


@dataclass(frozen=True)
class Score:
    """One condition on one place.

    `by_seed` holds its value at every seed; what has no seed (`seeds` is 0) has one value there. `interval` is over
    seeds and, as far as they were kept, sentences; `sentences` over sentences alone, its bounds averaged over seeds.
    """

    task: str
    measure: str
    unit: str
    condition: str
    encoder: str
    surgery: str | None
    untrained: bool
    language: str
    dataset: str | None
    place: str
    training: str
    """What it was trained on, as one text: `qaa+qab:10`."""
    sources: Sequence[str]
    """Codes of the languages trained on."""
    shots: int | None
    """Examples of all but the first of these, or of the only one, where they are few."""
    schedule: str | None
    by_seed: Mapping[int, float]
    seeds: int
    keys: Sequence[str]
    """Of the results that the values are of, as far as they have one."""
    samples: Samples
    """Turned so that more is better; of perplexities the logarithm."""
    interval: Interval
    """Of the mean, the geometric one of perplexities."""
    sentences: tuple[float, float] | None
    companions: Mapping[str, float]

    @property
    def itself(self) -> str:
        """The language in whatever letters and by whatever code, by which languages are counted."""
        return itself(self.language)

    @property
    def is_source(self) -> bool:
        """Whether the language was trained on, in whatever letters."""
        return self.itself in map(itself, self.sources)

    @property
    def is_whole_source(self) -> bool:
        """Whether it was trained on in these letters, with more than a few sentences or with nothing else.

        Gaps are measured from it.
        """
        return as_written(self.language) in map(as_written, self.sources[:1] if self.shots else self.sources)

    @property
    def sign(self) -> int:
        """1 where a higher value is better, -1 where a lower one is."""
        return MEASURES[self.measure].sign

    @property
    def best_seed(self) -> int:
        """The seed of the best value."""
        return max(self.by_seed, key=lambda seed: self.sign * self.by_seed[seed])


def itself(code: str) -> str:
    """A language without the letters that a text is transliterated to, by one code."""
    return language_of(split_name(code)[0])


Written = tuple[str, str | None, str | None]
"""A language, its script, and the letters that it is transliterated to."""


def as_written(code: str) -> Written:
    """A language by one code, its script, and the letters that it is transliterated to."""
    language, letters = split_name(code)
    return *written_language(language), letters


def scale(unit: str) -> tuple[float, str]:
    """Factor and unit for people: shares are shown in percent, correlations likewise, as is usual for GLUE."""
    return {"share": (100.0, "%"), "correlation": (100.0, "of 100")}.get(unit, (1.0, unit))


def noun_of(scores: Sequence[Score]) -> str:
    """What scores of one condition are counted as: languages, or data sets where a language is tested on several."""
    return "language" if len({score.itself for score in scores}) == len(scores) else "data set"


def title_of(task: str) -> str:
    """A task's title; its name where it is not in the table."""
    return TASKS[task].title if task in TASKS else task


def section_title(scores: Sequence[Score]) -> str:
    """The task and the measure of scores that stand together."""
    return ": ".join(filter(None, [title_of(scores[0].task), MEASURES[scores[0].measure].title]))


def points_of(unit: str) -> str:
    """The unit of a difference: percent differ by points."""
    return "points" if unit in ("%", "of 100") else unit


def mean_ends(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The ends of the values' own intervals, averaged: of a value without one (all sentences alike) it itself counts.

    None where no value has one.
    """
    ends = [(row.low, row.high) if row.low is not None and row.high is not None else None for row in rows]
    if not any(ends):
        return None
    lows, highs = zip(*(end or (row.value, row.value) for row, end in zip(rows, ends, strict=True)), strict=True)
    return fmean(lows), fmean(highs)


def within_bounds(interval: Interval, unit: str) -> Interval:
    """The interval of a score, cut where no score of that unit can be."""
    if interval.low is None or interval.high is None or unit not in BOUNDS:
        return interval
    lowest, highest = BOUNDS[unit]
    return replace(interval, low=max(interval.low, lowest), high=min(interval.high, highest))
