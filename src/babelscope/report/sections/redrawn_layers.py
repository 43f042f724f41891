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
    found: dict[tuple[object, ...], Reinitialised] = {}
    for score in with_published(report):
        key = (score.task, score.measure, score.encoder, score.training, score.schedule)
        one = found.setdefault(key, Reinitialised(score))
        if score.surgery is None:
            one.intact[score.place] = score
        elif layers := layers_of(report.surgeries.get(score.surgery, ())):
            one.without[layers][score.place] = score
    return [one for one in found.values() if one.without and one.intact]


def layers_of(operations: Sequence[Operation]) -> Layers:
    """The layers that a surgery draws anew; none if it does anything else."""
    match list(operations):
        case [Reinit(layers=tuple() as layers, part="all")]:
            return tuple(sorted(layers))
    return ()


def reinitialised_tables(report: Report) -> list[Table]:
    """One a task: a line for the source, the mean of the other languages, and each of them."""
    tasks: dict[tuple[str, str], list[Reinitialised]] = defaultdict(list)
    for one in reinitialised(report):
        tasks[one.first.task, one.first.measure].append(one)
    return [_table(group) for group in tasks.values()]


def reinitialised_findings(report: Report) -> list[str]:
    """How many times what it costs the source the lowest layers cost the others, and what the highest cost these."""
    return [_in_words(one) for one in reinitialised(report) if one.sources and one.foreign and _known(one)]


def _known(one: Reinitialised) -> bool:
    """Whether the lowest layers' cost is known on both sides."""
    return bool(one.cost(one.layers[0], one.sources) and one.cost(one.layers[0], one.foreign))


def _table(group: Sequence[Reinitialised]) -> Table:
    layers = sorted({drawn for one in group for drawn in one.layers})
    factor, unit = scale(group[0].first.unit)
    measure = SCORES[group[0].first.measure]
    headers = ["Trained on → scored on", "Encoder", f"{measure.title}{f' ({unit})' if unit else ''}"]
    headers += [f"Δ {_numbers(drawn)}" for drawn in layers]
    lines = [
        [Cell(f"{_training(one)} → {where}"), Cell(_encoder(one)), *_cells(one, layers, places, factor)]
        for one in group
        for where, places in _places(one).items()
    ]
    note = (
        f"Layers, counted from 1, are drawn anew before tuning; Δ: {points_of(unit)} gained, with the 95% interval "
        "over seeds (Student’s t, paired by seed); none where there is one number alone, as of what was published."
    )
    return Table(f"Layers drawn anew: {title_of(group[0].first.task)}", headers, lines, note)


def _places(one: Reinitialised) -> Mapping[str, Sequence[str]]:
    """By what a line is called: the places that it is the mean of."""
    several = {f"X (mean of {len(one.foreign)})": one.foreign} if len(one.foreign) > 1 else {}
    return {place: [place] for place in one.sources} | several | {place: [place] for place in one.foreign}


def _cells(one: Reinitialised, layers: Sequence[Layers], places: Sequence[str], factor: float) -> list[Cell]:
    changes = (one.change(drawn, places) if drawn in one.without else {} for drawn in layers)
    return [_cell(one.score(places), factor, ".2f"), *(_cell(change, factor, "+.2f") for change in changes)]


def _cell(values: BySeed, factor: float, form: str) -> Cell:
    if not values:
        return Cell("")
    found = student_t_interval(list(values.values()))
    text = f"{found.mean * factor:{form}}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low * factor:.2f}, {found.high * factor:.2f}]"
    return Cell(minus(text), found.mean * factor)


def _in_words(one: Reinitialised) -> str:
    lowest, highest = one.layers[0], one.layers[-1]
    foreign, source = one.cost(lowest, one.foreign), one.cost(lowest, one.sources)
    measure = SCORES[one.first.measure].name
    training = _training(one)
    text = (
        f"{title_of(one.first.task)}, {_encoder(one)}, trained on {training}: drawing {_named(lowest)} anew costs "
        f"{_others(one)} {_points(one, foreign)} of {measure}, and {training} {_points(one, source)}; "
        f"{_ratio(foreign, source)}.{_more(one, foreign, source)}"
    )
    return text if highest == lowest else f"{text} {_highest(one, highest)}"


def _ratio(foreign: Mapping[int, float], source: Mapping[int, float]) -> str:
    """How many times as much the others lose, as far as that can be said."""
    shared = foreign.keys() & source.keys()
    if not shared or sum(source[seed] for seed in shared) <= 0:
        return "the latter is no loss, so there is no ratio of the two"
    found = ratio_interval(foreign, source)
    times = minus(f"{found.mean:.1f} times as much")
    if found.low is not None and found.high is not None:
        low, high = (round(end, 1) + 0.0 for end in (found.low, found.high))  # no minus before 0
        return minus(f"{times} [{low:.1f}, {high:.1f}]")
    if found.n == 1:
        return f"{times} (one number each, so there is no interval)"
    return f"{times}, but the ratio has no bounds: what the training language loses is not told from 0"


def _more(one: Reinitialised, foreign: BySeed, source: BySeed) -> str:
    """Whether the others lose more."""
    difference = difference_interval(foreign, source)
    said = f" That the others lose more {verdict(difference)} (by {_spoken(one, difference)})."
    return said if difference.n > 1 else ""


def _highest(one: Reinitialised, layers: Layers) -> str:
    cost = one.cost(layers, one.foreign)
    if not cost:
        return ""
    found = student_t_interval(list(cost.values()))
    said = {"shows": "which shows", "the reverse shows": "a gain, which shows"}.get(verdict(found), "")
    said = said or ("which does not show" if verdict(found) == "does not show" else f"which {verdict(found)}")
    return f"{_named(layers).capitalize()} cost the others {_points(one, cost)}{f', {said}' if found.n > 1 else ''}."


def _points(one: Reinitialised, cost: BySeed) -> str:
    return _spoken(one, student_t_interval(list(cost.values())))


def _spoken(one: Reinitialised, found: Interval) -> str:
    return in_words(found, one.first.unit).replace("%", " points")


def _others(one: Reinitialised) -> str:
    count = len(one.foreign)
    return f"the other languages (mean of {count})" if count > 1 else "the other languages"


def _encoder(one: Reinitialised) -> str:
    return ", ".join(filter(None, [one.first.encoder, one.first.schedule]))


def _training(one: Reinitialised) -> str:
    return one.first.training or ""


def _named(layers: Layers) -> str:
    return f"layer{'s' if len(layers) > 1 else ''} {_numbers(layers)}"


def _numbers(layers: Layers) -> str:
    """As the field counts, from 1."""
    whole = len(layers) > 1 and layers == tuple(range(layers[0], layers[-1] + 1))
    return f"{layers[0] + 1}–{layers[-1] + 1}" if whole else "+".join(str(layer + 1) for layer in layers)
