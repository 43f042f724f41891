"""What a report is made from, and the scores that its findings, figures and tables share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.inference import effect
from babelscope.core.intervals import Interval
from babelscope.core.row import Row
from babelscope.core.samples import Outcomes, Samples, nothing_kept
from babelscope.core.scores import MEASURES
from babelscope.core.tasks import TASKS
from babelscope.report.kinds import COMPANIONS, Main, is_companion, is_score
from babelscope.report.planned import planned_rows
from babelscope.report.score import Score, itself, mean_ends, within_bounds
from babelscope.report.text_sizes import SizeOf, sizes_of
from babelscope.report.untold import untold
from babelscope.report.used import Used
from babelscope.study.encoders import BringingIn
from babelscope.surgery import Operation
from babelscope.surgery.operations.reinit import Reinit
from babelscope.tuning.schedule import Schedule

_SPOKEN = {"schedule": "schedule", "trained_on": "trained on"}
"""What tells the tunings of an encoder apart, as conditions name it."""


class Side(NamedTuple):
    """One of two conditions that are compared, by the names in rows."""

    encoder: str
    surgery: str | None = None
    schedule: str | None = None

    def has(self, score: Score) -> bool:
        """Whether a score is of this encoder after this surgery, under whatever schedule."""
        return (score.encoder, score.surgery) == (self.encoder, self.surgery)


class Contrasted(NamedTuple):
    """Two conditions of which the first should be better."""

    claim: str
    first: Side
    second: Side
    tasks: Collection[str] = ()
    """On these alone; empty: on all."""
    languages: Collection[str] = ()
    """In these alone, by their codes; empty: in all."""
    margin: float | None = None
    """Then the claim is that the two differ by less than this: in the unit of the score, of perplexities as a share."""

    @property
    def names_schedules(self) -> bool:
        """Whether each side has a schedule of its own; if not, both are compared under every schedule."""
        return bool(self.first.schedule or self.second.schedule)

    def is_about(self, task: str, language: str) -> bool:
        """Whether scores of the task in the language count."""
        return task in (self.tasks or (task,)) and language in (self.languages or (language,))


@dataclass(frozen=True)
class Report:
    """All that the page shows.

    `labels` maps language codes to display names, in the order to show them. `surgeries` and `schedules` say what the
    names in the columns of these names stand for.
    """

    title: str
    question: str
    rows: Sequence[Row]
    declaration: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    """What computes the rows again; empty: not known."""
    missing: str = ""
    """What an unfinished study lacks, as a sentence without its full stop; empty: nothing."""
    doubts: Sequence[str] = ()
    """Of data that make scores mean less than they seem to, a sentence each."""
    contrasts: Sequence[Contrasted] = ()
    surgeries: Mapping[str, Sequence[Operation]] = field(default_factory=lambda: {"reinit": (Reinit(),)})
    schedules: Mapping[str, Schedule] = field(default_factory=dict)
    recipes: Mapping[str, str] = field(default_factory=dict)
    """Encoders that the study makes -> from scratch, or adapted from another, in the words of `study.verdicts`."""
    brought_in: Mapping[str, BringingIn] = field(default_factory=dict)
    """Encoders that the study brings languages into, as it declares them."""
    outcomes: Outcomes = nothing_kept
    """What the evaluation that wrote a row kept of every sentence, by the row's key."""
    main: Main = field(default_factory=dict)
    """Task -> the measure that the study scores it by; of other tasks it is the first."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What the study has not -> the reason."""
    used: Used | None = None
    """Data, encoders and trainings of the study, for papers; None: not known."""

    @cached_property
    def untrained(self) -> set[str]:
        """The names of the surgeries that draw all weights anew and do nothing else."""
        return {name for name, operations in self.surgeries.items() if tuple(operations) == (Reinit(),)}

    @property
    def warnings(self) -> list[str]:
        """What to mind of the report as a whole."""
        unfinished = [f"The study is not finished: {self.missing}."] if self.missing else []
        return [*unfinished, *(f"{doubt}." for doubt in self.doubts), *untold(self.rows)]

    @cached_property
    def planned(self) -> Report | None:
        """What an unfinished study is going to compare; None of a finished one, or where the plan is not known."""
        if not self.missing or self.used is None:
            return None
        return replace(self, rows=planned_rows(self.used.plan, self.main))

    @cached_property
    def scores(self) -> list[Score]:
        """One per task, measure, condition and place, in the order to show."""
        return _scores(self)

    @cached_property
    def by_task(self) -> list[list[Score]]:
        """The scores by task and measure."""
        groups: dict[tuple[str, str], list[Score]] = defaultdict(list)
        for score in self.scores:
            groups[score.task, score.measure].append(score)
        return list(groups.values())

    @cached_property
    def conditions(self) -> list[str]:
        """Every condition once, in the order of the page: with seeds, baselines, then those without test scores."""
        rows = sorted(
            self.rows, key=lambda row: (not is_score(row, self.main), row.seed is None, row.surgery is not None)
        )
        return list(dict.fromkeys(self.condition(row) for row in rows))

    @cached_property
    def size_of(self) -> SizeOf:
        """Of a row or a score that is a perplexity, the size of its text."""
        return sizes_of(self.rows)

    def place(self, row: Row) -> str:
        """The language's label, with the data set where the language is tested on several."""
        label = self.labels.get(row.language or "", row.language or "")
        several = len(self._datasets[label]) > 1 and row.dataset
        return f"{label} · {row.dataset}" if several else label

    def condition(self, row: Row) -> str:
        """The encoder, what was done to it, and whatever else varies in this report."""
        told = (row.encoder, row.surgery, row.schedule, row.train_languages, row.shots, self._before(row))
        if told not in self._conditions:
            varied = [f"{_SPOKEN[name]} {getattr(row, name)}" for name in self._varying if getattr(row, name)]
            varied += [self._before(row)] if (row.encoder, row.surgery) in self._tuned else []
            self._conditions[told] = ", ".join(filter(None, [self.start(row), *varied])) or "all"
        return self._conditions[told]

    def _before(self, row: Row) -> str:
        """Of what is known of an encoder before it is tuned, which tunings of it are not."""
        if row.train_languages:
            return ""
        return "in the making" if row.kind == "curve" else "not tuned" if self._is_untuned_score(row) else ""

    def _is_untuned_score(self, row: Row) -> bool:
        return row.seed is None and is_score(row, self.main)

    def start(self, of: Row | Score) -> str:
        """The encoder and what was done to it, before it is tuned."""
        return ", ".join(filter(None, [of.encoder, self.surgery_name(of.surgery)]))

    def surgery_name(self, surgery: str | None) -> str:
        """What was done to an encoder, in words; a surgery with a name of its own keeps that. Empty: nothing."""
        return "untrained" if surgery == "reinit" and surgery in self.untrained else surgery or ""

    @cached_property
    def _conditions(self) -> dict[tuple[Any, ...], str]:
        """Of rows by what a condition is told by: every row is asked for it many times."""
        return {}

    @cached_property
    def _tuned(self) -> set[tuple[str | None, str | None]]:
        """Encoders, with what was done to them, that are scored after a training."""
        return {(row.encoder, row.surgery) for row in self.rows if row.seed is not None and is_score(row, self.main)}

    @cached_property
    def _datasets(self) -> Mapping[str, set[str]]:
        """By the label of a language, which several codes may have."""
        datasets: dict[str, set[str]] = defaultdict(set)
        for row in self.rows:
            if row.dataset and is_score(row, self.main):
                datasets[self.labels.get(row.language or "", row.language or "")].add(row.dataset)
        return datasets

    @cached_property
    def language_labels(self) -> dict[str, str]:
        """By the one code that a language is counted by: the label of the first of its codes."""
        labels: dict[str, str] = {}
        for code, label in self.labels.items():
            labels.setdefault(itself(code), label)
        return labels

    @cached_property
    def _varying(self) -> list[str]:
        """Trainings tell before they are tested, so that the curves of an unfinished study are not taken for one."""
        trained = [row for row in self.rows if is_score(row, self.main) or row.kind in ("curve", "probe")]
        # Of a model that was tuned, no schedule is one as well: everything is trained.
        tuned = [row for row in trained if row.schedule or (row.seed is not None and row.train_languages)]
        varied: dict[str, set[Any]] = {
            "schedule": {row.schedule for row in tuned},
            "trained_on": {row.trained_on for row in trained} - {""},
        }
        return [name for name, values in varied.items() if len(values) > 1]


def _scores(report: Report) -> list[Score]:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    beside: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in report.rows:  # of which most are neither
        if is_score(row, report.main):
            groups[row.measure, *_place_in(report, row)].append(row)
        elif is_companion(row, report.main):
            beside[_place_in(report, row)].append(row)
    scores = [_score(report, rows, beside[key[1:]]) for key, rows in groups.items()]
    known = {code: position for position, code in enumerate(report.labels)}
    order = {condition: position for position, condition in enumerate(report.conditions)}
    tasks: dict[str, int] = {task: position for position, task in enumerate(TASKS)}
    return sorted(
        scores,
        key=lambda s: (
            tasks.get(s.task, len(tasks)),
            s.task,
            s.measure,
            known.get(s.language, len(known)),
            s.place,
            order[s.condition],
        ),
    )


def _place_in(report: Report, row: Row) -> tuple[str, ...]:
    return row.task or "", report.condition(row), report.place(row)


def _score(report: Report, rows: list[Row], companions: list[Row]) -> Score:
    first = rows[0]

    def mean_of(measure: str) -> float | None:
        values = [row.value for row in companions if row.measure == measure]
        return sum(values) / len(values) if values else None

    by_row = _by_seed(report, rows)
    by_seed = {seed or 0: row.value for seed, row in by_row.items()}
    samples = _samples(report, by_row)
    return Score(
        task=first.task or "", measure=first.measure, unit=first.unit,
        condition=report.condition(first), encoder=first.encoder or "", surgery=first.surgery,
        untrained=first.surgery in report.untrained, language=first.language or "", dataset=first.dataset,
        place=report.place(first),
        training=first.trained_on, sources=(first.train_languages or "").split("+"),
        shots=first.shots, schedule=first.schedule,
        by_seed=by_seed, seeds=len({row.seed for row in rows} - {None}),
        keys=[row.key for row in by_row.values() if row.key],
        samples=samples.times(MEASURES[first.measure].sign),
        interval=_interval(samples, first),
        sentences=mean_ends(rows),
        companions={name: mean for name in COMPANIONS if (mean := mean_of(name)) is not None},
    )  # fmt: skip


def _by_seed(report: Report, rows: list[Row]) -> dict[int | None, Row]:
    by_seed: dict[int | None, Row] = {}
    for row in rows:
        other = by_seed.setdefault(row.seed, row)
        if other is not row:
            raise InputError(
                f"two values of {row.measure} for seed {row.seed} of {report.condition(row)} on {report.place(row)}, "
                f"from the results {other.key} and {row.key}: no column of the rows tells the two apart"
            )
    return by_seed


def _samples(report: Report, by_seed: Mapping[int | None, Row]) -> Samples:
    kept = {seed: report.outcomes(row.key).get(row.measure) for seed, row in by_seed.items() if row.key}
    counts = {seed: counted for seed, counted in kept.items() if counted}
    return Samples.of({seed: MEASURES[row.measure].compared(row.value) for seed, row in by_seed.items()}, counts)


def _interval(samples: Samples, row: Row) -> Interval:
    """The mean over seeds and its interval, cut where no score can be; the standard deviation is that of seeds."""
    known = replace(effect(*samples.known).interval, sd=samples.sd)
    return within_bounds(MEASURES[row.measure].taken_back(known), row.unit)
