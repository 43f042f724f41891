"""The scores of one training under schedules that freeze the first N layers and do nothing else."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from babelscope.report.model import Report
from babelscope.report.score import Score, title_of
from babelscope.tuning.schedule import Schedule
from babelscope.tuning.schedules.freeze import Freeze

FEWEST = 3
"""Numbers of frozen layers that make a sweep."""


@dataclass(frozen=True)
class Sweep:
    """An encoder tuned on a task, with more and more of its first layers frozen."""

    task: str
    measure: str
    encoder: str
    training: str
    """What it was trained on, as one text."""
    dropout: bool
    """Whether there is dropout in the frozen layers."""
    scores: dict[str, dict[int, Score]] = field(default_factory=lambda: defaultdict(dict))
    """By place and number of frozen layers: -1 nothing, 0 the embeddings, N the first N layers too."""

    @property
    def numbers(self) -> list[int]:
        """The numbers of frozen layers, of any place."""
        return sorted({frozen for by_number in self.scores.values() for frozen in by_number})

    @property
    def first(self) -> Score:
        """Any of the scores, for what all share."""
        return next(score for by_number in self.scores.values() for score in by_number.values())

    @property
    def own(self) -> dict[str, dict[int, Score]]:
        """At the places of languages that it was trained on."""
        foreign = self.foreign
        return {place: scores for place, scores in self.scores.items() if place not in foreign}

    @property
    def foreign(self) -> dict[str, dict[int, Score]]:
        """At the places of languages that it was not trained on."""
        return {place: scores for place, scores in self.scores.items() if not any(s.is_source for s in scores.values())}

    @property
    def title(self) -> str:
        """What it is of."""
        kept = " with dropout in the frozen layers" if self.dropout else ""
        return f"{title_of(self.task)}{kept}, {self.encoder}, trained on {self.training}"


def frozen_layers(schedule: Schedule) -> int | None:
    """How many of the first layers it freezes (0: the embeddings alone, -1: nothing); None if that is not all.

    It may leave dropout in them or not.
    """
    alone = schedule.decay == 1 and schedule.lora is None
    return schedule.chosen.freeze if alone and isinstance(schedule.chosen, Freeze) else None


def sweeps(report: Report) -> list[Sweep]:
    """All sweeps with three numbers of frozen layers or more, each of one training alone.

    Those that leave dropout in the frozen layers are a sweep of their own; where nothing is frozen, both start. Of two
    schedules that freeze as much in the same way, the first stands for both; without a schedule nothing is frozen.
    """
    counts = {name: frozen_layers(schedule) for name, schedule in report.schedules.items()}
    by_training: dict[tuple[str, str, str, str, bool], Sweep] = {}
    for score in report.scores:
        frozen = counts.get(score.schedule or "", -1 if score.seeds and not score.schedule else None)
        if frozen is not None and score.surgery is None:
            dropout = frozen != -1 and report.schedules[score.schedule or ""].frozen_dropout
            for kept in (False, True) if frozen == -1 else (dropout,):
                key = (score.task, score.measure, score.encoder, score.training, kept)
                by_training.setdefault(key, Sweep(*key)).scores[score.place].setdefault(frozen, score)
    return [sweep for sweep in by_training.values() if len(sweep.numbers) >= FEWEST]
