"""Steps: the frozen values that a plan consists of, each named by the hash of what determines its result."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

from babelscope.declaration import Declaration
from babelscope.keys import digest
from babelscope.rows import Row


class Results(Protocol):
    """Where the results of steps are."""

    def result(self, step: Step) -> Path:
        """The folder of a step's published result, its checksums verified."""


class Workspace(Results, Protocol):
    """What a running step may use. The engine gives one to `Step.execute`."""

    folder: Path
    """The step's own draft folder. What lies in it at the end is published in one atomic move; what a killed
    run left in it (a journal, a checkpoint) is still there when the step is tried again."""

    def write_rows(self, rows: Iterable[Row]) -> None:
        """Set the rows of this step's result."""

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Add to the rows of this step's result, at once: a kill does not lose them."""

    def rows_so_far(self) -> list[Row]:
        """The rows that this step, or an attempt that was cut short, has written."""

    def progress(self, done: int, total: int, **numbers: float) -> None:
        """Tell the person who waits: `done` of `total` units, and numbers such as the current loss."""


class Step(Declaration):
    """A frozen value with a key. Two steps of equal key have equal results, so each is computed once.

    Fields named in `unkeyed` (a path, a display name) cannot change a number and are left out of the key.
    Raise `version` whenever the meaning of a step changes.
    """

    version: ClassVar[int] = 1
    stored: ClassVar[bool] = True
    """False for a step too cheap to keep: whoever needs it computes it anew."""
    unkeyed: ClassVar[frozenset[str]] = frozenset()

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The stored steps whose results this one reads, directly or through steps that are not stored."""
        fields = [value if isinstance(value, tuple) else (value,) for value in dict(self).values()]
        steps = [value for values in fields for value in values if isinstance(value, Step)]
        return tuple(found for step in steps for found in ((step,) if step.stored else step.inputs))

    @cached_property
    def key(self) -> str:
        """64 hex digits: class, version, keyed fields, and the keys of the inputs."""
        fields: dict[str, Any] = {}
        for name, value in dict(self).items():
            if name not in self.unkeyed:
                plain = self.model_dump(mode="json", include={name})
                if name in plain:  # else it is left out as long as it says nothing, as if there were no such field
                    fields[name] = _keys(value) or plain[name]
        return digest({"step": type(self).__name__, "version": self.version, "fields": fields})

    @property
    def title(self) -> str:
        """A short line for people."""
        return type(self).__name__

    def execute(self, workspace: Workspace) -> None:
        """Compute the result into `workspace`. Whatever this needs (torch) is imported here, not at the top."""
        raise NotImplementedError


def _keys(value: Any) -> Any:
    """The key of a step, or the keys of a tuple of steps; None of anything else."""
    if isinstance(value, tuple) and value and all(isinstance(one, Step) for one in value):
        return [one.key for one in value]
    return value.key if isinstance(value, Step) else None
