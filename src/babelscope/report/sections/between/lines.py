"""What lies between tuned models: lines of scores, read from rows.

Wu, Van Durme and Dredze (2022): every score is divided by the bilingual model's on that language. A language that
is scored on several data sets counts once, with their mean.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any, Literal, NamedTuple, TypeVar

from babelscope.core.inference import Effect
from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.core.training import TrainedOn
from babelscope.measures.formulas.landscape import reach
from babelscope.report.kinds import Main, main_measure, rises
from babelscope.report.model import Report
from babelscope.report.sections.between.means import Run, Values, over_pairs, subtracted

Value = TypeVar("Value")
Curve = Mapping[float, float]
"""Place on a line -> value."""
Role = Literal["source", "target"]
ROLES: tuple[Role, Role] = ("source", "target")
DROP = 0.05
"""What a score may lose, as a share of the bilingual model's, where it is said to hold."""


class Where(NamedTuple):
    """What a model is scored on."""

    language: str
    dataset: str

    @classmethod
    def of(cls, row: Row) -> Where:
        """The language and the data set of a row; empty where it has none."""
        return cls(row.language or "", row.dataset or "")


@dataclass(frozen=True)
class Line:
    """The models between two tuned ones, scored on some languages."""

    task: str
    encoder: str
    """With surgery and schedule, if any, and the part that moves if the rest does not."""
    origin: str
    """Training languages of the model at 0."""
    end: str
    """Of the model at 1."""
    split: str
    seed: int
    """Of the model at 0."""
    scores_on: Mapping[Where, dict[float, float]] = field(default_factory=lambda: defaultdict(dict))
    """The task's first measure, on each data set."""
    losses_on: Mapping[Where, dict[float, float]] = field(default_factory=lambda: defaultdict(dict))
    whole: Line | None = None
    """Where a part of the weights moves alone: the line between the same models on which all of them move."""

    @cached_property
    def scores(self) -> Mapping[str, Curve]:
        """Language -> the mean over its data sets."""
        return _by_language(self.scores_on)

    @cached_property
    def losses(self) -> Mapping[str, Curve]:
        """Language -> the mean over its data sets."""
        return _by_language(self.losses_on)

    @cached_property
    def ends(self) -> TrainedOn:
        """What the model at 1 was trained on."""
        return TrainedOn.read(self.end)

    @property
    def pair(self) -> tuple[str, str] | None:
        """Source and target, where the line ends in a model of both, each with all of its data."""
        languages, shots = self.ends
        if len(languages) != 2 or shots is not None or self.origin not in languages:
            return None
        return languages[0], languages[1]

    @property
    def shots(self) -> int | None:
        """How many examples of the target the end's model saw, if these are few, beside what the origin's saw."""
        first, *others = self.ends.languages
        return self.ends.shots if others and first == self.origin else None

    def run(self, language: str) -> Run:
        """What a number on it is of that is about a language."""
        return Run(self.task, (self.origin, self.end), language, self.seed)

    @property
    def target(self) -> str:
        """The last language of the end."""
        return self.ends.languages[-1]

    @property
    def role(self) -> Role:
        """Whose model the line leads from, to that of both."""
        return "source" if self.pair and self.origin == self.pair[0] else "target"

    @property
    def languages(self) -> Mapping[Role, str]:
        """The source and the target, by their roles."""
        return dict(zip(ROLES, self.pair or (), strict=False))

    def bilingual(self, language: str) -> float | None:
        """The score of the bilingual model, at 1 of the whole line; None where it is not above 0 or not there."""
        score = (self.whole or self).scores.get(language, {}).get(1.0, 0.0)
        return score if score > 0 else None

    def normalised(self, language: str) -> Curve | None:
        """The scores divided by the bilingual model's; None where there is none to divide by."""
        bilingual = self.bilingual(language)
        scores = self.scores.get(language, {})
        return {alpha: value / bilingual for alpha, value in scores.items()} if bilingual else None


class Place(NamedTuple):
    """A place on the lines of an encoder: which line, and whose score."""

    encoder: str
    origin: Role
    """Which language's model the line leads from, to that of both."""
    language: Role
    alpha: float


class Flatness(NamedTuple):
    """How wide the part of the line is around the bilingual model where a score holds."""

    encoder: str
    language: Role
    run: Run
    width: float
    """In units of alpha, 2 being the whole line."""
    bounded: bool
    """Whether the score falls within the line on both sides."""


@dataclass(frozen=True)
class Between:
    """All lines of a report. What is said of them is of tasks whose scores are better when higher."""

    lines: Sequence[Line]
    main: Main = field(default_factory=dict)
    """As of a report."""

    @classmethod
    def of(cls, report: Report) -> Between:
        """From its rows; those of planes, and of means of many models, are no lines."""
        lines: dict[tuple[str, str, str, str, str, int], Line] = {}
        wholes: dict[tuple[str, str, str, str, str, int], str] = {}
        for row in report.rows:
            if row.kind != "interpolation" or row.alpha1 is None or row.alpha2 is not None or row.seed is None:
                continue
            if len(row.models) != 2:
                continue
            origin, end = row.models
            key = (row.task or "", moving(row), origin, end, row.split or "", row.seed)
            line = lines.setdefault(key, Line(*key))
            if row.part:
                wholes[key] = name_of(row)
            if row.measure == main_measure(row, report.main):
                line.scores_on[Where.of(row)][row.alpha1] = row.value
            elif row.measure == "loss":
                line.losses_on[Where.of(row)][row.alpha1] = row.value
        of_parts = {}
        for key, name in wholes.items():
            whole = (key[0], name, *key[2:])
            of_parts[key] = lines.get(whole, Line(*whole))  # an empty one, which has no bilingual model
        return cls([replace(line, whole=of_parts.get(key)) for key, line in lines.items()], report.main)

    @cached_property
    def _rising(self) -> list[Line]:
        return [line for line in self.lines if rises(line.task, self.main)]

    @cached_property
    def bilingual(self) -> list[Line]:
        """From a model of one language to one of two."""
        return [line for line in self._rising if line.pair and line.split == "dev"]

    @cached_property
    def few_shot(self) -> list[Line]:
        """To a model of few examples of the target."""
        return [line for line in self._rising if line.shots]

    @cached_property
    def random(self) -> list[Line]:
        """From a model along a random direction."""
        return [line for line in self._rising if line.end == "random"]

    @cached_property
    def seeds(self) -> list[Line]:
        """From one seed's model to another's."""
        return [line for line in self._rising if line.origin == line.end]

    def means(self, task: str | None = None) -> dict[Place, Interval]:
        """Mean normalised score at every place that all lines have, of all tasks or of one."""
        means = {place: over_pairs(values) for place, values in self.normalised(task).items()}
        return {place: mean.interval for place, mean in means.items() if mean}

    def normalised(self, task: str | None = None) -> dict[Place, Values]:
        """The scores divided by the bilingual models' at every place that all lines have, of all tasks or of one."""
        values: dict[Place, dict[Run, float]] = defaultdict(dict)
        for line, role, run, curve in self._curves():
            if task in (None, line.task):
                for alpha, value in curve.items():
                    values[Place(line.encoder, line.role, role, alpha)][run] = value
        return common(values)

    def flatness(self) -> list[Flatness]:
        """On every line from the source's model to the bilingual one, of both languages."""
        return [
            Flatness(line.encoder, role, run, *_width(curve))
            for line, role, run, curve in self._curves()
            if line.role == "source" and not line.whole and len(curve) > 1
        ]

    def _curves(self) -> Iterator[tuple[Line, Role, Run, Curve]]:
        for line in self.bilingual:
            for role, language in line.languages.items():
                if curve := line.normalised(language):
                    yield line, role, line.run(language), curve


def common(values: Mapping[Place, Mapping[Any, Value]]) -> dict[Place, Mapping[Any, Value]]:
    """The places of each line that have what most have: curves are of the same models everywhere."""
    most: dict[tuple[str, Role, Role], Mapping[Any, Value]] = {}
    for place, there in values.items():
        most[place[:3]] = max(most.get(place[:3], {}), there, key=len)
    return {place: there for place, there in values.items() if there.keys() == most[place[:3]].keys()}


def by_curve(values: Mapping[Place, Value]) -> dict[tuple[str, Role, Role], dict[float, Value]]:
    """Encoder, whose model the line leads from and whose score it is -> place on the line -> what is there."""
    curves: dict[tuple[str, Role, Role], dict[float, Value]] = defaultdict(dict)
    for place, value in values.items():
        curves[place[:3]][place.alpha] = value
    return {key: dict(sorted(curve.items())) for key, curve in curves.items()}


def _by_language(curves: Mapping[Where, Curve]) -> Mapping[str, Curve]:
    """The mean over each language's data sets, at the places that all of these have."""
    groups: dict[str, list[Curve]] = defaultdict(list)
    for where, curve in curves.items():
        groups[where.language].append(curve)
    return {
        language: {
            alpha: fmean(curve[alpha] for curve in group)
            for alpha in group[0]
            if all(alpha in curve for curve in group)
        }
        for language, group in groups.items()
    }


def labels_of(report: Report, places: Iterable[Where]) -> dict[Where, str]:
    """Language labels, with the data set where there are several of a language among these."""
    labels = {where: report.labels.get(where.language, where.language) for where in places}
    count = Counter(where.language for where in labels)
    return {
        where: f"{label} · {where.dataset}" if count[where.language] > 1 else label for where, label in labels.items()
    }


def _width(curve: Curve) -> tuple[float, bool]:
    """How far the score holds around 1, up and down, and whether both ends are within the line."""
    alphas, scores = list(curve), list(curve.values())
    ways = [reach(alphas, scores, 1.0, DROP, downward=downward) for downward in (False, True)]
    return sum(way.distance for way in ways), not any(way.at_least for way in ways)


def compare_flatness(measured: Sequence[Flatness], first: str, second: str, language: Role) -> Effect | None:
    """First encoder's width minus the second's, paired; None without a seed that both have."""
    widths = (
        {flatness.run: flatness.width for flatness in measured if (flatness.encoder, flatness.language) == side}
        for side in ((first, language), (second, language))
    )
    return over_pairs(subtracted(*widths))


def name_of(row: Row) -> str:
    """The encoder, its surgery and schedule."""
    return ", ".join(filter(None, [row.encoder, row.surgery, row.schedule]))


def moving(row: Row) -> str:
    """The encoder, with the part of the weights that moves if the rest does not."""
    return f"{name_of(row)}, {row.part} alone" if row.part else name_of(row)
