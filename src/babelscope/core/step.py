"""The step: a frozen value named by the hash of what determines its result, and the table of all kinds of step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from babelscope.core.declaration import Declaration
from babelscope.core.hashing import canonical, text_digest
from babelscope.core.keyed import keyed_fields
from babelscope.core.row import Row

PROBE_SPLIT = "probe"
"""The split of rows that were measured while a model was trained."""

STEPS: dict[str, type[Step]] = {}
"""Every kind of step that has been imported, by the name that keys and manifests have for it."""


class Interrupted(BaseException):
    """The process is to end: a step saves what the next attempt goes on from, and lets this pass."""


class Needs(NamedTuple):
    """What a step takes of a machine while it runs."""

    gpus: int = 0
    threads: int = 1
    memory: int = 0
    """Bytes of main memory; 0: not known."""
    device: str = "cpu"
    """The kind that `gpus` is a number of."""
    gpu_memory: int = 0
    """Bytes of the accelerator's; 0: not known."""

    @classmethod
    def on(cls, device: str, threads: int, gpu_memory: int = 0) -> Needs:
        """A model on a device, of whose memory it takes so much if that is an accelerator."""
        on_gpu = device != "cpu"
        return cls(gpus=int(on_gpu), threads=threads, device=device, gpu_memory=gpu_memory if on_gpu else 0)


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
        """Tell the person who waits: `done` of `total` units, and numbers such as the current loss.

        Raises:
            Interrupted: the process is to end.
        """


class Step(Declaration):
    """A frozen value with a key. Two steps of equal key have equal results, so each is computed once.

    Fields named in `unkeyed` (a path, a display name) cannot change a number and are left out of the key. A field
    with a default counts only where its value is another, so that a new one leaves the keys of old results alone.
    Raise `version` whenever the meaning of a step changes, that of a default included.
    """

    version: ClassVar[int] = 1
    stored: ClassVar[bool] = True
    """False for a step too cheap to keep: whoever needs it computes it anew."""
    droppable: ClassVar[tuple[str, ...]] = ()
    """Large files of its result that a store may do without: the step is computed again where one is read."""
    row_kind: ClassVar[str] = ""
    """What its rows are, in their column `kind`: score, curve, similarity ..."""
    timed: ClassVar[bool] = False
    """Whether its rows are measurements of time: another run gives others."""
    unkeyed: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __pydantic_init_subclass__(cls, **given: Any) -> None:
        """Enter the class in `STEPS`."""
        super().__pydantic_init_subclass__(**given)
        other = STEPS.setdefault(cls.__name__, cls)
        if other.__module__ != cls.__module__:
            raise TypeError(f"{cls.__module__} and {other.__module__} both have a step {cls.__name__}: rename one")
        STEPS[cls.__name__] = cls

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The stored steps whose results this one reads, directly or through steps that are not stored."""
        steps: list[Step] = []
        for field in vars(self).values():
            if isinstance(field, Step):
                steps.append(field)
            elif isinstance(field, tuple):
                steps += [value for value in field if isinstance(value, Step)]
        return tuple(needed for step in steps for needed in ((step,) if step.stored else step.inputs))

    @cached_property
    def key(self) -> str:
        """64 hex digits: class, version, keyed fields, and the keys of the inputs."""
        fields = {name: value for name, value in keyed_fields(self) if name not in self.unkeyed}
        inside = ",".join(f"{canonical(name)}:{_as_text(fields[name])}" for name in sorted(fields))
        kind = canonical(type(self).__name__)
        return text_digest(f'{{"fields":{{{inside}}},"step":{kind},"version":{self.version:d}}}')

    @property
    def needs(self) -> Needs:
        """What it takes of the machine that it is computed on. No part of the key."""
        return Needs()

    @property
    def libraries(self) -> dict[str, str]:
        """The modules that it takes and not every installation has, each with the extra that installs it."""
        return {}

    @property
    def title(self) -> str:
        """A short line for people."""
        return type(self).__name__

    @property
    def told_by(self) -> Mapping[Hashable, Hashable]:
        """What columns of its rows say of its numbers -> what makes these, and no column says.

        Rows of two steps of a kind that say the same of different numbers would be taken for one another: a study that
        has both is refused.
        """
        return {}

    def kind_of(self, row: Row) -> str | None:
        """What goes into a row's column `kind`: `row_kind`, but that what is measured during a training is a probe."""
        return "probe" if row.split == PROBE_SPLIT else self.row_kind or None

    def execute(self, workspace: Workspace) -> None:
        """Compute the result into `workspace`. Whatever this needs (torch) is imported here, not at the top."""
        raise NotImplementedError


def _as_text(value: Any) -> str:
    """A field's value for the key, in canonical JSON; a declaration's is kept, for other steps that have it."""
    if isinstance(value, tuple) and value and isinstance(value[0], Declaration):
        return f"[{','.join(map(_as_text, value))}]"
    if isinstance(value, Declaration) and not isinstance(value, Step):
        return _declaration_as_text(value)
    return canonical(_plain(value))


def _plain(value: Any) -> Any:
    """What JSON has of a value: of a step its key, of a declaration the name it is known as, or its keyed fields."""
    match value:
        case str() | int() | float() | None:
            return value
        case Step():
            return value.key
        case Declaration():
            name = value.known_as
            return {name: _plain(inside) for name, inside in keyed_fields(value)} if name is None else name
        case tuple():
            return [_plain(inside) for inside in value]
        case dict():
            return {name: _plain(inside) for name, inside in value.items()}
        case _:
            return value


_TEXTS: dict[int, tuple[Declaration, str]] = {}
"""Declarations with what they are for the key, by their identity, which is theirs as long as they are kept here.

Thousands of steps share them. They are not told apart by their value: 1 and 1.0 are equal, and keys of them are not.
"""
MOST_KEPT = 10_000


def _declaration_as_text(declared: Declaration) -> str:
    kept = _TEXTS.get(id(declared))
    if kept is None:
        if len(_TEXTS) >= MOST_KEPT:
            _TEXTS.clear()
        kept = _TEXTS[id(declared)] = (declared, canonical(_plain(declared)))
    return kept[1]
