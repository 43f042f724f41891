"""What it costs to draw some layers anew before tuning: on the language of the training, and on the others.

Muller et al. (2021, section 3) call it Random-Init: where the other languages lose and the source does not, the layers
are what carries a task over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from babelscope.core.inference import FEWEST_SEEDS, Effect
from babelscope.core.intervals import Interval, ratio_interval
from babelscope.core.row import Row
from babelscope.core.samples import Samples, mean_of
from babelscope.report.judged import Verdict, judged, over_places
from babelscope.report.kinds import SCORES
from babelscope.report.model import Report, Score, scale, title_of, within_bounds
from babelscope.report.paired import BySeed
from babelscope.report.published import is_published, with_published
from babelscope.report.section import Section, section
from babelscope.report.shown import Shown
from babelscope.report.tables import Cell, Table
from babelscope.report.words import bounded, minus
from babelscope.surgery import Operation
from babelscope.surgery.operations.reinit import Reinit

Layers = tuple[int, ...]
"""Counted from 0."""


@dataclass(frozen=True)
class Reinitialised:
    """The scores of an encoder tuned on one task, as it is and with some layers drawn anew, by place."""

    first: Score
    """Any of them, for what all share."""
    intact: dict[str, Score] = field(default_factory=dict)
    without: dict[Layers, dict[str, Score]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def sources(self) -> list[str]:
        """The places of the languages that it is trained on."""
        return [place for place, score in self.intact.items() if score.is_source]

    @property
    def foreign(self) -> list[str]:
        """All other places."""
        return [place for place, score in self.intact.items() if not score.is_source]

    @property
    def layers(self) -> list[Layers]:
        """What is drawn anew, the lowest first."""
        return sorted(self.without)

    def score(self, places: Sequence[str]) -> Effect | None:
        """Of the encoder as it is, the mean over places, as rows have it."""
        return over_places(self._by_language({place: self.intact[place].samples.times(self.sign) for place in places}))

    def change(self, layers: Layers, places: Sequence[str]) -> Effect | None:
        """The score without what layers had learned minus the one with it, as rows have it.

        The mean over the places where both are scored, at the seeds that both have; None if there are none.
        """
        losses = self.losses(layers, places)
        return over_places(self._by_language({place: loss.times(-self.sign) for place, loss in losses.items()}))

    def losses(self, layers: Layers, places: Sequence[str]) -> dict[str, Samples]:
        """By place, how much worse it is without what layers had learned; empty where a place has no seed of both."""
        after = self.without[layers]
        losses = {place: self.intact[place].samples - after[place].samples for place in places if place in after}
        known = {place: loss for place, loss in losses.items() if loss is not None}
        return known if len(known) == len(losses) else {}

    def loss(self, layers: Layers, places: Sequence[str]) -> Effect | None:
        """How much worse it is, the mean over places."""
        return over_places(self._by_language(self.losses(layers, places)))

    def more(self, layers: Layers) -> Effect | None:
        """How much more the other languages lose than that of the training."""
        source = mean_of(list(self.losses(layers, self.sources).values()))
        if source is None:
            return None
        more = {place: loss.beyond(source) for place, loss in self.losses(layers, self.foreign).items()}
        return over_places(self._by_language({place: each for place, each in more.items() if each}))

    @property
    def sign(self) -> int:
        """1 where more is better."""
        return self.first.sign

    def _by_language(self, samples: Mapping[str, Samples]) -> dict[str, list[Samples]]:
        by_language: dict[str, list[Samples]] = defaultdict(list)
        for place, each in samples.items():
            by_language[self.intact[place].language].append(each)
        return by_language


@section(claims=lambda row: row.kind == "score" and is_published(row), order=50)
def redrawn_layers(report: Report, rows: Sequence[Row]) -> Iterator[Section]:
    """What it costs to draw some layers anew, as far as the study declares such surgeries."""
    if tables := reinitialised_tables(report):
        yield Section("Layers drawn anew before tuning", reinitialised_findings(report), tables=tables)


def reinitialised(report: Report) -> list[Reinitialised]:
    """Every encoder, task, training and schedule that was tuned with layers drawn anew and without."""
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


def reinitialised_tables(report: Report) -> list[Table]:
    """One a task: a line for the source, the mean of the other languages, and each of them."""
    tasks: dict[tuple[str, str], list[Reinitialised]] = defaultdict(list)
    for redrawn in reinitialised(report):
        tasks[redrawn.first.task, redrawn.first.measure].append(redrawn)
    return [_table(group) for group in tasks.values()]


def reinitialised_findings(report: Report) -> list[str]:
    """How many times what it costs the source the lowest layers cost the others, and what the highest cost these.

    What is said to show is one family of claims (Holm 1979).
    """
    known = [(redrawn, costs) for redrawn in reinitialised(report) if (costs := _costs(redrawn))]
    verdicts = iter(judged([claim for _, costs in known for claim in costs.claims]))
    return [_in_words(redrawn, costs, [next(verdicts) for _ in costs.claims]) for redrawn, costs in known]


class Costs(NamedTuple):
    """What drawing the lowest layers anew costs, and the highest."""

    foreign: Effect
    source: Effect
    by_seed: tuple[BySeed, BySeed]
    """The same, foreign and source, seed by seed."""
    claims: Sequence[Effect | None]
    """How much more the others lose by the lowest than the source; and, if there are more, what they lose by the
    highest."""


def _costs(redrawn: Reinitialised) -> Costs | None:
    """None where the cost is not known on both sides."""
    lowest, highest = redrawn.layers[0], redrawn.layers[-1]
    foreign, source = (redrawn.loss(lowest, places) for places in (redrawn.foreign, redrawn.sources))
    means = [mean_of(list(redrawn.losses(lowest, places).values())) for places in (redrawn.foreign, redrawn.sources)]
    if foreign is None or source is None:
        return None
    others, own = (mean.by_seed or {0: mean.mean} for mean in means if mean)
    claims = [redrawn.more(lowest)]
    if highest != lowest:
        claims.append(redrawn.loss(highest, redrawn.foreign))
    return Costs(foreign, source, (others, own), claims)


def _table(group: Sequence[Reinitialised]) -> Table:
    layers = sorted({drawn for redrawn in group for drawn in redrawn.layers})
    unit = scale(group[0].first.unit)[1]
    shown = Shown.of(group[0].first)
    measure = shown.measure
    headers = ["Trained on → scored on", "Encoder", f"{measure.title}{f' ({unit})' if unit else ''}"]
    headers += [f"Δ {_numbers(drawn)}" for drawn in layers]
    lines = [
        [Cell(f"{redrawn.first.training} → {where}"), Cell(_encoder(redrawn)), *_cells(redrawn, layers, places, shown)]
        for redrawn in group
        for where, places in _places(redrawn).items()
    ]
    change = "how many times as high it is then" if shown.as_ratio else f"{shown.unit_in_words} gained"
    note = (
        f"Layers, counted from 1, are drawn anew before tuning; Δ: {change}, with the 95% interval "
        "over seeds, test sentences as far as they are known, and for a mean over three or more languages these too; "
        "none where fewer than three seeds say too little, as of what was published. Those of scores are cut where no "
        "score can be."
    )
    note += " Means are geometric." if shown.as_ratio else ""
    return Table(f"Layers drawn anew: {title_of(group[0].first.task)}", headers, lines, note)


def _places(redrawn: Reinitialised) -> Mapping[str, Sequence[str]]:
    """By what a line is called: the places that it is the mean of."""
    several = {f"X (mean of {len(redrawn.foreign)})": redrawn.foreign} if len(redrawn.foreign) > 1 else {}
    return {place: [place] for place in redrawn.sources} | several | {place: [place] for place in redrawn.foreign}


def _cells(redrawn: Reinitialised, layers: Sequence[Layers], places: Sequence[str], shown: Shown) -> list[Cell]:
    score, factor = redrawn.score(places), scale(shown.unit)[0]
    whole = within_bounds(shown.measure.taken_back(score.interval), shown.unit) if score else None
    changes = [redrawn.change(drawn, places) if drawn in redrawn.without else None for drawn in layers]
    numbers = [shown.cell(change.interval if change else None, "+.2f") for change in changes]
    return [_cell(whole, factor), *numbers]


def _cell(known: Interval | None, factor: float) -> Cell:
    return Cell("") if known is None else Cell(bounded(known, factor, digits=2), known.mean * factor)


def _in_words(redrawn: Reinitialised, costs: Costs, verdicts: Sequence[Verdict]) -> str:
    training, measure = redrawn.first.training or "", SCORES[redrawn.first.measure].name
    more, *rest = costs.claims
    size = f" (by {_points(redrawn, more)})" if more and more.known else ""
    text = (
        f"{title_of(redrawn.first.task)}, {_encoder(redrawn)}, trained on {training}: "
        f"drawing {_named(redrawn.layers[0])} anew costs {_others(redrawn)} {_points(redrawn, costs.foreign)} of "
        f"{measure}, and {training} {_points(redrawn, costs.source)}; {_ratio(redrawn, *costs.by_seed)}. "
        f"That the others lose more: {verdicts[0]}{size}."
    )
    return text + "".join(_highest(redrawn, cost, said) for cost, said in zip(rest, verdicts[1:], strict=True))


def _ratio(redrawn: Reinitialised, foreign: BySeed, source: BySeed) -> str:
    """How many times as much the others lose, as far as that can be said; of perplexities in loss per token."""
    shared = foreign.keys() & source.keys()
    if not shared or sum(source[seed] for seed in shared) <= 0:
        return "the latter is no loss, so there is no ratio of the two"
    interval = ratio_interval(foreign, source)
    times = minus(f"{interval.mean:.1f} times as much")
    times += " in loss per token" if Shown.of(redrawn.first).as_ratio else ""
    if interval.n < FEWEST_SEEDS:
        return f"{times} (too few seeds for an interval)"
    if interval.low is not None and interval.high is not None:
        low, high = (round(end, 1) + 0.0 for end in (interval.low, interval.high))  # no minus before 0
        return minus(f"{times} [{low:.1f}, {high:.1f}] over seeds")
    return f"{times}, but the ratio has no bounds: what the training language loses is not told from 0"


def _highest(redrawn: Reinitialised, cost: Effect | None, said: Verdict) -> str:
    if cost is None:
        return ""
    what = "the reverse, a gain, shows" if said is Verdict.REVERSED else said
    return f" {_named(redrawn.layers[-1]).capitalize()} cost the others {_points(redrawn, cost)}: {what}."


def _points(redrawn: Reinitialised, cost: Effect) -> str:
    return Shown.of(redrawn.first).in_words(cost.interval)


def _others(redrawn: Reinitialised) -> str:
    count = len(redrawn.foreign)
    return f"the other languages (mean of {count})" if count > 1 else "the other languages"


def _encoder(redrawn: Reinitialised) -> str:
    return ", ".join(filter(None, [redrawn.first.encoder, redrawn.first.schedule]))


def _named(layers: Layers) -> str:
    return f"layer{'s' if len(layers) > 1 else ''} {_numbers(layers)}"


def _numbers(layers: Layers) -> str:
    """As the field counts, from 1."""
    whole = len(layers) > 1 and layers == tuple(range(layers[0], layers[-1] + 1))
    return f"{layers[0] + 1}–{layers[-1] + 1}" if whole else "+".join(str(layer + 1) for layer in layers)
