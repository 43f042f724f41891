"""The scores of encoders that were tuned as they are, and with some layers reinitialised before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from babelscope.core.inference import Effect
from babelscope.core.samples import Samples, mean_of
from babelscope.report.judged import over_places
from babelscope.report.model import Report
from babelscope.report.published import with_published
from babelscope.report.score import Score
from babelscope.surgery import Operation
from babelscope.surgery.operations.reinit import Reinit

Layers = tuple[int, ...]
"""Counted from 0."""


@dataclass(frozen=True)
class Reinitialised:
    """The scores of an encoder tuned on one task, as it is and with some layers reinitialised, by place."""

    first: Score
    """Any of them, for what all share."""
    intact: dict[str, Score] = field(default_factory=dict)
    without: dict[Layers, dict[str, Score]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def encoder(self) -> str:
        """Its name, with the schedule of the tuning."""
        return ", ".join(filter(None, [self.first.encoder, self.first.schedule]))

    @property
    def sources(self) -> list[str]:
        """The places of the languages that it is trained on."""
        return [place for place, score in self.intact.items() if score.is_whole_source]

    @property
    def foreign(self) -> list[str]:
        """All other places."""
        return [place for place, score in self.intact.items() if not score.is_source]

    @property
    def foreign_languages(self) -> int:
        """How many these are of."""
        return len({self.intact[place].itself for place in self.foreign})

    @property
    def layers(self) -> list[Layers]:
        """What is reinitialised, the lowest first."""
        return sorted(self.without)

    def score(self, places: Sequence[str]) -> Effect | None:
        """Of the encoder as it is, the mean over places, as rows have it."""
        return over_places(self._by_language({place: self.intact[place].samples.times(self.sign) for place in places}))

    def change(self, layers: Layers, places: Sequence[str]) -> Effect | None:
        """The score without what layers had learned minus the one with it, as rows have it.

        The mean over all of the places, at the seeds that both have there; None where it is not known at one of them.
        """
        losses = self.losses(layers, places)
        return over_places(self._by_language({place: loss.times(-self.sign) for place, loss in losses.items()}))

    def losses(self, layers: Layers, places: Sequence[str]) -> dict[str, Samples]:
        """By place, how much worse it is without what layers had learned.

        Empty where a place has no seed of both: a mean over the others would be told as one over all.
        """
        after = self.without[layers]
        losses = {place: self.intact[place].samples - after[place].samples for place in places if place in after}
        known = {place: loss for place, loss in losses.items() if loss is not None}
        return known if len(known) == len(places) else {}

    def loss(self, layers: Layers, places: Sequence[str]) -> Effect | None:
        """How much worse it is, the mean over places."""
        return over_places(self._by_language(self.losses(layers, places)))

    def mean_loss(self, layers: Layers, places: Sequence[str]) -> Samples | None:
        """The same, seed by seed; a language with several data sets counts once."""
        languages = [mean_of(each) for each in self._by_language(self.losses(layers, places)).values()]
        return mean_of([each for each in languages if each]) if all(languages) else None

    def more(self, layers: Layers) -> Effect | None:
        """How much more the other languages lose than that of the training."""
        source = self.mean_loss(layers, self.sources)
        if source is None:
            return None
        more = {place: loss.beyond(source) for place, loss in self.losses(layers, self.foreign).items()}
        known = {place: each for place, each in more.items() if each}
        return over_places(self._by_language(known)) if len(known) == len(more) else None

    def keys(self, places: Sequence[str]) -> list[str]:
        """Of the results at these places, those of the encoder as it is first."""
        scored = [self.intact, *(self.without[layers] for layers in self.layers)]
        return [key for by_place in scored for place in places if place in by_place for key in by_place[place].keys]

    @property
    def sign(self) -> int:
        """1 where more is better."""
        return self.first.sign

    def _by_language(self, samples: Mapping[str, Samples]) -> dict[str, list[Samples]]:
        by_language: dict[str, list[Samples]] = defaultdict(list)
        for place, each in samples.items():
            by_language[self.intact[place].itself].append(each)
        return by_language


def reinitialised(report: Report) -> list[Reinitialised]:
    """Every encoder, task, training and schedule that was tuned with layers reinitialised and without."""
    by_key: dict[tuple[object, ...], Reinitialised] = {}
    for score in with_published(report):
        key = (score.task, score.measure, score.encoder, score.training, score.schedule)
        redrawn = by_key.setdefault(key, Reinitialised(score))
        if score.surgery is None:
            redrawn.intact[score.place] = score
        elif layers := layers_of(report.surgeries.get(score.surgery, ())):
            redrawn.without[layers][score.place] = score
    return [redrawn for redrawn in by_key.values() if redrawn.without and redrawn.intact]


def layers_of(operations: Sequence[Operation]) -> Layers:
    """The layers that a surgery draws anew; none if it does anything else."""
    match list(operations):
        case [Reinit(layers=tuple() as layers, part="all")]:
            return tuple(sorted(layers))
    return ()


def numbers_of(layers: Layers) -> str:
    """As the field counts, from 1."""
    whole = len(layers) > 1 and layers == tuple(range(layers[0], layers[-1] + 1))
    return f"{layers[0] + 1}–{layers[-1] + 1}" if whole else "+".join(str(layer + 1) for layer in layers)
