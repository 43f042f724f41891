"""From a study, by its name, its file or in memory, to its plan and the store that keeps its results."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.filesize import decimal

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.core.step import Step
from babelscope.core.words import counted
from babelscope.core.yaml import parse_value
from babelscope.corpora.absent import sizes_in_place_of_files
from babelscope.engine import progress
from babelscope.engine.forecast import peak_bytes
from babelscope.engine.local import usable_cores
from babelscope.engine.store import Store
from babelscope.engine.tracking import tracker_at
from babelscope.face import html, session, trainings
from babelscope.face.doubts import doubts
from babelscope.face.notes import notes
from babelscope.steps.plan import Plan, absent
from babelscope.studies import STUDIES, find_study
from babelscope.studies.known_sizes import known_size
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from babelscope.engine.run import Outcome
    from babelscope.face.prediction import Prediction
    from babelscope.report import Report

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""A header and lines."""


class Job(NamedTuple):
    """A study with its plan and the store that keeps its results."""

    study: Study
    plan: Plan
    store: Store
    changes: tuple[str, ...] = ()
    """What was changed in the study, KEY=VALUE."""

    @classmethod
    def of(cls, study: Study, store: Store | Path | str | None = None, changes: Sequence[str] = ()) -> Job:
        """Plan a study.

        Raises:
            StudyError: what the study names is not there, or does not go together.
            StoreError: the folder is no store.
        """
        return cls(study, compile_study(study), session.open_store(store), tuple(changes))

    @property
    def title(self) -> str:
        """The study's name, and what was changed in it."""
        return self.study.name + (f" with {', '.join(self.changes)}" if self.changes else "")

    @property
    def command(self) -> str:
        """What runs it. A study of one's own stands in a file that is not known here, so that its place has a word."""
        built_in = self.study.name.partition("@")[0] in STUDIES
        changes = [word for change in self.changes for word in ("--with", change)]
        return shlex.join(["babelscope", "run", self.study.name if built_in else "STUDY.yaml", *changes])

    @property
    def done(self) -> int:
        """How many of the plan's steps are in the store."""
        return len(self.store.published(self.plan.steps))

    @property
    def missing(self) -> str:
        """A sentence if the study is not finished; empty if it is."""
        done, steps = self.done, len(self.plan.steps)
        if done == steps:
            return ""
        states = progress.states_of(self.plan, self.store)
        failed = [step.title for key, step in self.plan.steps.items() if states.get(key) == "failed"]
        why = f", since {'; '.join(failed[:3])} failed ({len(failed)} in all)" if failed else ""
        return f"{done} of {steps} steps are done; the rest is missing{why}"

    @property
    def pending(self) -> list[Step]:
        """The plan's steps that a run computes."""
        return session.missing(self.plan, self.store)

    @property
    def summary(self) -> str:
        """A line: steps, and how many are done."""
        again = len(progress.computed_again(self.plan, self.store))
        to_compute = f" {again} of them to compute again since their weights were dropped," if again else ""
        return f"{counted(len(self.plan.steps), 'step')}, {self.done} cached,{to_compute} in {self.store.address}"

    @property
    def room(self) -> str | None:
        """A line: what it takes on the disk where weights are dropped; None where they are not, or cannot be seen."""
        tunings = [step for step in self.plan.steps.values() if step.droppable]
        if self.study.keep != "rows" or not tunings:
            return None
        threads = max(step.needs.threads for step in tunings)
        at_once = 1 if any(step.needs.gpus for step in tunings) else max(1, usable_cores() // threads)
        if (peak := peak_bytes(self.plan, at_once)) is None:
            return None
        return f"keep: rows: at most about {decimal(peak)} on the disk at a time, with {at_once} trained at once"

    @property
    def held(self) -> int:
        """How many tunings have weights in the store though the study keeps rows alone."""
        if self.study.keep != "rows":
            return 0
        tunings = self.store.published(key for key, step in self.plan.steps.items() if step.droppable)
        return sum(self.store.is_whole(key) for key in tunings)

    @property
    def notes(self) -> list[str]:
        """What to know of the data of steps that are not in the store; a line each."""
        names = dict.fromkeys(data.source for data in absent(self.pending))
        missing = [f"not to be had here, so that known sizes are counted: {', '.join(names)}"] if names else []
        return [*missing, *notes(self.pending)]

    def run(
        self, engine: session.Engine = session.HERE, console: Console | None = None, track: Sequence[str] = ()
    ) -> Outcome:
        """Compute what the store lacks, as `session.run` does; `track` names trackers: `tensorboard:FOLDER`."""
        trackers = [tracker_at(given, self.study.name) for given in track]
        return session.run(self.plan, self.store, engine, console, trackers, drop=self.study.keep == "rows")

    def status(self) -> Table:
        """How many steps of each kind are in which state."""
        states = ("done", "running", "pending", "failed")
        by_kind = progress.progress_by_kind(self.plan, self.store)
        return ("step", *states), [(kind, *(str(count[s]) for s in states)) for kind, count in by_kind.items()]

    def prediction(self, calibration: Path | str | None = None, jobs: int | None = None) -> Prediction:
        """What the rest is expected to take, with so many steps at once; None: as many as this machine has room for.

        Raises:
            InputError: the file holds no calibration.
        """
        from babelscope.face.prediction import Prediction

        return Prediction.of(self.plan, self.store, calibration, jobs)

    def costs(self) -> Table:
        """By kind of step and device: how many are done and pending, and the time and room that they are expected to
        take."""
        from babelscope.face.prediction import HEADER

        return HEADER, self.prediction().lines

    def trainings(self) -> Table:
        """What is trained and for how many optimizer steps, done or not; the last line is their sum."""
        return trainings.HEADER, trainings.trainings(self.plan.steps.values())

    def rows(self) -> list[Row]:
        """What the store holds of the study.

        Raises:
            InputError: nothing.
        """
        rows = progress.study_rows(self.study.name, self.plan, self.store)
        if not rows:
            raise InputError(self._nothing())
        return rows

    def _nothing(self) -> str:
        if not self.store.is_there:
            return (
                f"{self.store.address}: there is no such store yet: run the study first, or give the store of its run "
                "with --store"
            )
        example = ", such as --with scale=small" if self.study.name.partition("@")[0] in STUDIES else ""
        return (
            f"{self.store.address}: no results of {self.study.name} for these parameters: run it first, or give the "
            f"--with that it was run with{example}. A file of data that has changed since counts as other data"
        )

    def report(self) -> Report:
        """What the report shows: the rows in the store and the published ones, what was declared, and where from.

        Raises:
            InputError: the store holds no rows of the study.
        """
        from babelscope.report import report_of

        provenance = progress.provenance(self.plan, self.store)
        outcomes = progress.sentence_outcomes(self.store)
        return report_of(
            self.study, self.rows(), title=self.title, provenance=provenance, outcomes=outcomes, plan=self.plan,
            command=self.command, missing=self.missing, doubts=doubts(self.plan.steps.values()),
        )  # fmt: skip

    def check_not_read(self, output: Path) -> None:
        """Refuse to write over a file, or into a folder, of the user's own that the study reads (`InputError`)."""
        from babelscope.steps.own_files import check_not_read

        check_not_read(self.plan.steps.values(), output)

    def __str__(self) -> str:
        return f"{self.title}: {self.summary}"

    def _repr_html_(self) -> str:
        return html.table(*self.costs(), caption=f"{self.title}: {self.summary}")


def job_of(name: str, changes: Sequence[str] | None, store: Store | Path | str | None) -> Job:
    """From a study's name or file, and changes KEY=VALUE.

    Raises:
        InputError: there is no such study, or a change is not KEY=VALUE.
        DataError, StudyError: the file, the parameters or what the study names are at fault.
    """
    return Job.of(find_study(name, _parse_changes(changes or [])), store, changes or ())


def planned_job(name: str, changes: Sequence[str] | None, store: Store | Path | str | None) -> Job:
    """As of `job_of`, but to be planned alone: of public data that are not here their known sizes do."""
    with sizes_in_place_of_files(known_size):
        return job_of(name, changes, store)


def spoken_changes(changes: Mapping[str, Any]) -> tuple[str, ...]:
    """Changes as the command line has them: KEY=VALUE, where a value that is no text is in JSON, a part of YAML."""
    return tuple(f"{key}={_spoken(value)}" for key, value in changes.items())


def _spoken(value: Any) -> str:
    if isinstance(value, str | PurePath):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _parse_changes(changes: Sequence[str]) -> dict[str, Any]:
    parsed = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not (key and equals):
            raise InputError(f"--with {change}: expected KEY=VALUE, such as --with seeds=5")
        if key in parsed:
            raise InputError(f"--with {key}: given twice; give each key once")
        parsed[key] = parse_value(value)
    return parsed
