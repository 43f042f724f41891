"""What happens to steps while a plan runs. Workers send these to the runner, and the runner to its observer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

TRIES = 3
"""How often a step that gets no further is lost before it is tried alone; one that found no memory counts as often."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened to the step named by `key`."""

    key: str


@dataclass(frozen=True, slots=True)
class Started(Event):
    """A worker claimed the step and computes it."""


@dataclass(frozen=True, slots=True)
class Progressed(Event):
    """`done` of `total` units of a running step, with numbers such as the current loss."""

    done: int
    total: int
    numbers: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The step's result is published; it took `seconds`, attempts that were cut short included."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Found(Event):
    """Another runner has published the result meanwhile."""


@dataclass(frozen=True, slots=True)
class Waiting(Event):
    """Another runner computes the step; this one waits, and takes over if the other dies."""


@dataclass(frozen=True, slots=True)
class Damaged(Event):
    """A stored result is not as it was published; it is set aside and computed again.

    `reader` is the key of the step that noticed, if one did.
    """

    message: str
    reader: str | None = None


@dataclass(frozen=True, slots=True)
class Lost(Event):
    """The step's worker died, was told to end or ran out of time, as often as `times`; the step is tried again."""

    message: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """The step raised an error, or its worker died in each of several attempts; `message` says which."""

    message: str


@dataclass(frozen=True, slots=True)
class Full(Failed):
    """The step found the disk of the store full, so that no other is begun."""


@dataclass(frozen=True, slots=True)
class Blocked(Event):
    """The step cannot run since the step of key `because` failed."""

    because: str


def ends_attempt(event: Event) -> bool:
    """Whether the worker is done with the step, for now at least."""
    return not isinstance(event, Started | Progressed)


def as_record(event: Event) -> dict[str, Any]:
    """An event as a dictionary of plain values."""
    return {"event": type(event).__name__, **asdict(event)}


def event_of(record: dict[str, Any]) -> Event:
    """The event of a dictionary that `as_record` made."""
    kinds = (Started, Progressed, Finished, Found, Waiting, Damaged, Lost, Failed, Full, Blocked)
    kind = next(kind for kind in kinds if kind.__name__ == record["event"])
    return kind(**{name: value for name, value in record.items() if name != "event"})
