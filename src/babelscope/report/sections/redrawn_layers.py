"""What it costs to draw some layers anew before tuning: on the language of the training, and on the others.

Muller et al. (2021, section 3) call it Random-Init: where the other languages lose and the source does not, the layers
are what carries a task over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from babelscope.core.intervals import Interval, difference_interval, ratio_interval, student_t_interval
from babelscope.core.row import Row
from babelscope.report.kinds import SCORES
from babelscope.report.model import Report, Score, points_of, scale, title_of
from babelscope.report.paired import BySeed, mean_by_seed, verdict
from babelscope.report.published import is_published, with_published
from babelscope.report.section import Section, section
from babelscope.report.tables import Cell, Table
from babelscope.report.words import in_words, minus
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

    def score(self, places: Sequence[str]) -> BySeed:
        """Of the encoder as it is, the mean over places."""
        return mean_by_seed(self.intact[place].by_seed for place in places)

    def change(self, layers: Layers, places: Sequence[str]) -> BySeed:
        """By the seeds that both have: the score without what layers had learned minus the one with it.

        The mean over the places where both are scored.
        """
        after = self.without[layers]
        shared = [place for place in places if place in after]
        first, second = mean_by_seed(after[place].by_seed for place in shared), self.score(shared)
        return {seed: first[seed] - second[seed] for seed in first if seed in second}

    def cost(self, layers: Layers, places: Sequence[str]) -> BySeed:
        """How much worse it is."""
        return {seed: -self.first.sign * value for seed, value in self.change(layers, places).items()}


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
    """How many times what it costs the source the lowest layers cost the others, and what the highest cost these."""
    return [
        _in_words(redrawn)
        for redrawn in reinitialised(report)
        if redrawn.sources and redrawn.foreign and _known(redrawn)
    ]


def _known(redrawn: Reinitialised) -> bool:
    """Whether the lowest layers' cost is known on both sides."""
    return bool(redrawn.cost(redrawn.layers[0], redrawn.sources) and redrawn.cost(redrawn.layers[0], redrawn.foreign))


def _table(group: Sequence[Reinitialised]) -> Table:
    layers = sorted({drawn for redrawn in group for drawn in redrawn.layers})
    factor, unit = scale(group[0].first.unit)
    measure = SCORES[group[0].first.measure]
    headers = ["Trained on → scored on", "Encoder", f"{measure.title}{f' ({unit})' if unit else ''}"]
    headers += [f"Δ {_numbers(drawn)}" for drawn in layers]
    lines = [
        [Cell(f"{_training(redrawn)} → {where}"), Cell(_encoder(redrawn)), *_cells(redrawn, layers, places, factor)]
        for redrawn in group
        for where, places in _places(redrawn).items()
    ]
    note = (
        f"Layers, counted from 1, are drawn anew before tuning; Δ: {points_of(unit)} gained, with the 95% interval "
        "over seeds (Student’s t, paired by seed); none where there is one number alone, as of what was published."
    )
    return Table(f"Layers drawn anew: {title_of(group[0].first.task)}", headers, lines, note)


def _places(redrawn: Reinitialised) -> Mapping[str, Sequence[str]]:
    """By what a line is called: the places that it is the mean of."""
    several = {f"X (mean of {len(redrawn.foreign)})": redrawn.foreign} if len(redrawn.foreign) > 1 else {}
    return {place: [place] for place in redrawn.sources} | several | {place: [place] for place in redrawn.foreign}


def _cells(redrawn: Reinitialised, layers: Sequence[Layers], places: Sequence[str], factor: float) -> list[Cell]:
    changes = (redrawn.change(drawn, places) if drawn in redrawn.without else {} for drawn in layers)
    return [_cell(redrawn.score(places), factor, ".2f"), *(_cell(change, factor, "+.2f") for change in changes)]


def _cell(values: BySeed, factor: float, form: str) -> Cell:
    if not values:
        return Cell("")
    interval = student_t_interval(list(values.values()))
    text = f"{interval.mean * factor:{form}}"
    if interval.low is not None and interval.high is not None:
        text += f" [{interval.low * factor:.2f}, {interval.high * factor:.2f}]"
    return Cell(minus(text), interval.mean * factor)


def _in_words(redrawn: Reinitialised) -> str:
    lowest, highest = redrawn.layers[0], redrawn.layers[-1]
    foreign, source = redrawn.cost(lowest, redrawn.foreign), redrawn.cost(lowest, redrawn.sources)
    measure = SCORES[redrawn.first.measure].name
    training = _training(redrawn)
    text = (
        f"{title_of(redrawn.first.task)}, {_encoder(redrawn)}, trained on {training}: "
        f"drawing {_named(lowest)} anew costs {_others(redrawn)} {_points(redrawn, foreign)} of {measure}, "
        f"and {training} {_points(redrawn, source)}; "
        f"{_ratio(foreign, source)}.{_more(redrawn, foreign, source)}"
    )
    return text if highest == lowest else f"{text} {_highest(redrawn, highest)}"


def _ratio(foreign: Mapping[int, float], source: Mapping[int, float]) -> str:
    """How many times as much the others lose, as far as that can be said."""
    shared = foreign.keys() & source.keys()
    if not shared or sum(source[seed] for seed in shared) <= 0:
        return "the latter is no loss, so there is no ratio of the two"
    interval = ratio_interval(foreign, source)
    times = minus(f"{interval.mean:.1f} times as much")
    if interval.low is not None and interval.high is not None:
        low, high = (round(end, 1) + 0.0 for end in (interval.low, interval.high))  # no minus before 0
        return minus(f"{times} [{low:.1f}, {high:.1f}]")
    if interval.n == 1:
        return f"{times} (one number each, so there is no interval)"
    return f"{times}, but the ratio has no bounds: what the training language loses is not told from 0"


def _more(redrawn: Reinitialised, foreign: BySeed, source: BySeed) -> str:
    """Whether the others lose more."""
    difference = difference_interval(foreign, source)
    said = f" That the others lose more {verdict(difference)} (by {_spoken(redrawn, difference)})."
    return said if difference.n > 1 else ""


def _highest(redrawn: Reinitialised, layers: Layers) -> str:
    cost = redrawn.cost(layers, redrawn.foreign)
    if not cost:
        return ""
    interval = student_t_interval(list(cost.values()))
    said = {"shows": "which shows", "the reverse shows": "a gain, which shows"}.get(verdict(interval), "")
    said = said or ("which does not show" if verdict(interval) == "does not show" else f"which {verdict(interval)}")
    shows = f", {said}" if interval.n > 1 else ""
    return f"{_named(layers).capitalize()} cost the others {_points(redrawn, cost)}{shows}."


def _points(redrawn: Reinitialised, cost: BySeed) -> str:
    return _spoken(redrawn, student_t_interval(list(cost.values())))


def _spoken(redrawn: Reinitialised, interval: Interval) -> str:
    return in_words(interval, redrawn.first.unit).replace("%", " points")


def _others(redrawn: Reinitialised) -> str:
    count = len(redrawn.foreign)
    return f"the other languages (mean of {count})" if count > 1 else "the other languages"


def _encoder(redrawn: Reinitialised) -> str:
    return ", ".join(filter(None, [redrawn.first.encoder, redrawn.first.schedule]))


def _training(redrawn: Reinitialised) -> str:
    return redrawn.first.training or ""


def _named(layers: Layers) -> str:
    return f"layer{'s' if len(layers) > 1 else ''} {_numbers(layers)}"


def _numbers(layers: Layers) -> str:
    """As the field counts, from 1."""
    whole = len(layers) > 1 and layers == tuple(range(layers[0], layers[-1] + 1))
    return f"{layers[0] + 1}–{layers[-1] + 1}" if whole else "+".join(str(layer + 1) for layer in layers)
