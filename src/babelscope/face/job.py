"""A study as a command line means it: with changes, its plan, and the store that keeps its results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from babelscope.core.errors import InputError
from babelscope.core.step import Step
from babelscope.core.yaml import parse_value
from babelscope.engine.progress import progress_by_kind
from babelscope.engine.store import Store
from babelscope.steps.plan import Plan, check_data
from babelscope.studies import find_study
from babelscope.study.compile import compile_study
from babelscope.study.declare import Study


class Job(NamedTuple):
    """A study with its plan and the store that keeps its results."""

    study: Study
    plan: Plan
    store: Store
    changes: tuple[str, ...]

    @property
    def title(self) -> str:
        """The study's name, and what was changed in it."""
        return self.study.name + (f" with {', '.join(self.changes)}" if self.changes else "")

    @property
    def done(self) -> int:
        """How many of the plan's steps are in the store."""
        return sum(map(self.store.has, self.plan.steps))

    def check_data(self) -> None:
        """Refuse malformed data before anything is computed from it; finished steps need none any more."""
        check_data(self.pending)

    @property
    def pending(self) -> list[Step]:
        """The plan's steps that are not in the store."""
        return [step for key, step in self.plan.steps.items() if not self.store.has(key)]

    @property
    def status(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Header and lines: how many steps of each kind are in which state."""
        states = ("done", "running", "pending", "failed")
        by_kind = progress_by_kind(self.plan, self.store)
        return ("step", *states), [(kind, *(str(count[s]) for s in states)) for kind, count in by_kind.items()]


def job_of(name: str, changes: Sequence[str] | None, folder: Path) -> Job:
    """From a study's name or file, and changes KEY=VALUE."""
    study = find_study(name, _parse_changes(changes or []))
    return Job(study, compile_study(study), Store(folder), tuple(changes or ()))


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
