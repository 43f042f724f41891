"""What the rest of a plan is expected to take: hours, gigabytes of disk and of memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.filesize import decimal

from babelscope.core.outside import given_path
from babelscope.core.step import Step
from babelscope.core.words import counted
from babelscope.engine.calibration import Calibration, own_calibration, read_calibration
from babelscope.engine.environment import gpu_names
from babelscope.engine.expected import Estimate, estimates
from babelscope.engine.forecast import expected_bytes, running_bytes
from babelscope.engine.local import usable_cores
from babelscope.engine.slots import visible_names
from babelscope.engine.store import Store
from babelscope.face.session import missing
from babelscope.steps import Training, Tune
from babelscope.steps.memory import memory_of
from babelscope.steps.plan import Plan

HEADER = ("step", "device", "cached", "pending", "time, about", "memory", "storage")
Kind = tuple[str, str]
"""Class and device."""


class Prediction(NamedTuple):
    """What is expected of a plan with a store."""

    plan: Plan
    pending: dict[str, Step]
    """By key, what a run computes: what is not in the store, or is without weights that are read again."""
    expected: Mapping[str, Estimate]
    """By key; those of which nothing is known are missing."""
    jobs: int | None
    """Steps at once; None: as many as this machine has room for."""

    @classmethod
    def of(cls, plan: Plan, store: Store, calibration: Path | str | None = None, jobs: int | None = None) -> Prediction:
        """By a calibration; None: by that of this machine, if there is one.

        Raises:
            InputError: the file holds no calibration.
        """
        pending = {step.key: step for step in missing(plan, store)}
        return cls(plan, pending, estimates(plan, store, _calibration(calibration)), jobs)

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """Under `HEADER`: a line for the steps of a class that are computed on a kind of device."""
        kinds = defaultdict[Kind, dict[str, Step]](dict)
        for key, step in self.plan.steps.items():
            kinds[_kind(step)][key] = step
        return [(*kind, *self._cells(kind[0], steps)) for kind, steps in kinds.items()]

    def _cells(self, name: str, steps: dict[str, Step]) -> Iterator[str]:
        pending = [key for key in steps if key in self.pending]
        known = [self.expected[key].seconds for key in pending if key in self.expected]
        yield str(len(steps) - len(pending))
        yield str(len(pending))
        yield _time(known, len(pending))
        memory = max((_memory(self.pending[key]) for key in pending), default=0)
        yield decimal(memory) if memory else ""
        yield _storage(expected_bytes(Plan(steps))[name])

    @property
    def words(self) -> list[str]:
        """Lines about all of it; none where nothing is pending."""
        return [*self._hours(), *self._sources(), *self._room()] if self.pending else []

    def _hours(self) -> Iterator[str]:
        if not self.expected:
            return
        sums = [sum(getattr(each, name) for each in self.expected.values()) for name in ("seconds", "low", "high")]
        about, low, high = map(time_in_words, sums)
        by_device = defaultdict[str, float](float)
        for key, estimate in self.expected.items():
            by_device[self.pending[key].needs.device] += estimate.seconds
        parts = ", ".join(f"{time_in_words(seconds)} of {device}" for device, seconds in by_device.items())
        between = f" ({low} to {high})" if low != high else ""
        yield f"computing: about {about}{between}: {parts}; by the clock about {self._clock()}"

    def _clock(self) -> str:
        """Hours until the last step, and on what: none is shared out, and a step waits for those that it needs."""
        cores, gpus = usable_cores(), self._gpus
        ends: dict[str, float] = {}
        busy = defaultdict[bool, float](float)
        for key, step in self.pending.items():
            seconds = self.expected[key].seconds if key in self.expected else 0.0
            ends[key] = seconds + max((ends.get(needed.key, 0.0) for needed in step.inputs), default=0.0)
            needs = step.needs
            at_once = self.jobs or (gpus if needs.gpus else max(1, cores // needs.threads))
            busy[bool(needs.gpus)] += seconds / at_once
        places = [f"{cores} cores", *([f"{gpus} GPU{'s' if gpus > 1 else ''}"] if True in busy else [])]
        on = f"with {self.jobs} jobs" if self.jobs else f"on {' and '.join(places)}"
        return f"{time_in_words(max(*busy.values(), *ends.values()))} {on}"

    @property
    def _gpus(self) -> int:
        """Those of this machine, or one where there is none."""
        on_gpus = any(step.needs.gpus for step in self.pending.values())
        return max(1, len(visible_names(len(gpu_names())))) if on_gpus else 1

    def _sources(self) -> Iterator[str]:
        sources = Counter(estimate.source for estimate in self.expected.values())
        if sources:
            yield "hours are from " + ", and from ".join(
                f"{source}: {counted(count, 'step')}" for source, count in sources.items()
            )
        unknown = Counter(type(step).__name__ for key, step in self.pending.items() if key not in self.expected)
        if unknown:
            kinds = ", ".join(f"{count} {name}" for name, count in unknown.items())
            how = "" if self.expected else "run babelscope doctor once, or "
            some = "run some of them in this store (built-in studies: --with scale=small)"
            yield f"no hours for {kinds}: {how}{some}; then run this again"

    def _room(self) -> Iterator[str]:
        steps = list(self.pending.values())
        sizes = expected_bytes(Plan(self.pending)).values()
        at_once = self.jobs or usable_cores()
        unknown = "" if None not in sizes else ", and what cannot be known yet"
        running = decimal(running_bytes(steps, at_once))
        yield f"disk: about {decimal(sum(size or 0 for size in sizes))} more{unknown}; {running} besides while it runs"
        largest = Counter[str]()
        for step in steps:
            largest[step.needs.device] = max(largest[step.needs.device], _memory(step))
        told = [f"{decimal(size)} on {device}" for device, size in largest.items() if size]
        if told:
            yield f"memory of a step: about {', '.join(told)}"


def time_in_words(seconds: float) -> str:
    """Seconds, minutes or hours, with two digits or more."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:,.{1 if seconds < 360_000 else 0}f} h"


def _time(known: Sequence[float], count: int) -> str:
    """Of so many steps, of which some may not be known."""
    if count and not known:
        return "not known"
    more = count - len(known)
    return time_in_words(sum(known)) + (f", {more} not known" if more else "")


def _calibration(given: Path | str | None) -> Calibration | None:
    path = given_path(given) if given else own_calibration()
    return read_calibration(path) if given or path.is_file() else None


def _kind(step: Step) -> Kind:
    return type(step).__name__, step.needs.device


def _memory(step: Step) -> int:
    """Bytes of a training, or of whatever is computed on an accelerator, about; 0: not known."""
    if not isinstance(step, Training):
        return step.needs.gpu_memory
    return memory_of(step.encoder if isinstance(step, Tune) else step, step.tuning, step.predicted)


def _storage(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 1e6:,.1f} MB" if size > 1e5 else "little"
