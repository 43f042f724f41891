"""A study whose names have been looked up: what its measures make their steps of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from babelscope.core.errors import InputError, did_you_mean
from babelscope.core.registry import Registered
from babelscope.core.tasks import Task
from babelscope.corpora.datasets import Dataset
from babelscope.steps import EncoderStep, Evaluate, Tune
from babelscope.tuning.schedule import Schedule

T = TypeVar("T")


class TrainedTask(Protocol):
    """One of the study's tasks."""

    @property
    def task(self) -> Task:
        """What is trained."""

    @property
    def transfer(self) -> Any:
        """The task as it is declared, with `head`, `evaluate`, `sizes`, `baselines` and so on."""

    @property
    def train(self) -> tuple[Dataset, ...]:
        """What it is trained on."""

    @property
    def dev(self) -> tuple[Dataset, ...]:
        """What selects its best step."""

    @property
    def test(self) -> tuple[Dataset, ...]:
        """What it is scored on."""

    @property
    def entity_types(self) -> tuple[str, ...]:
        """Of named entities: what the training data call one."""

    @property
    def encoders(self) -> tuple[EncoderStep, ...]:
        """Those that are tuned on it; none: all."""

    def is_for(self, encoder: EncoderStep) -> bool:
        """Whether an encoder, perhaps operated, is tuned on it."""

    def evaluation(self, encoder: EncoderStep, schedule: Schedule | None, seed: int, data: Dataset) -> Evaluate:
        """The scores of an encoder's tuning, with what is brought into it."""

    def tuned(self, encoder: EncoderStep, schedule: Schedule | None, seed: int) -> Tune:
        """The tuning of an encoder."""

    def recurrent(self, seed: int) -> Tune:
        """The training of a BiLSTM."""


@dataclass(frozen=True)
class Compiled:
    """What a study names, looked up; what was not found is left out, and has been noted as a fault."""

    measures: tuple[Registered, ...]
    """All measures of the study."""
    encoders: tuple[EncoderStep, ...]
    """Those that are tuned."""
    named: Mapping[str, EncoderStep]
    """Encoders and references, by the names that rows have and by those in the study."""
    complete: bool
    """Whether all encoders were found, so that another name is a fault."""
    conditions: Sequence[tuple[EncoderStep, int]]
    """Every encoder under every surgery that is meant for it, with every seed."""
    tasks: Mapping[str, TrainedTask]
    surgeries: tuple[str, ...]
    """Their names."""
    schedules: tuple[Schedule | None, ...]
    seeds: tuple[int, ...]
    world_seed: int
    _found: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def look_up(self, find: Callable[..., T], *given: Hashable) -> T:
        """What `find` returns, computed once: a file is read for its digest each time that it is looked up."""
        if (find, given) not in self._found:
            self._found[find, given] = find(*given)
        result: T = self._found[find, given]
        return result

    def encoder(self, name: str) -> EncoderStep | None:
        """The encoder or reference of that name; None where it, or another, was not found.

        Raises:
            InputError: there is none.
        """
        if name not in self.named and self.complete:
            raise unnamed(name, self.named)
        return self.named.get(name)

    def tuned(self, name: str) -> EncoderStep:
        """The encoder of that name, one of those that are tuned.

        Raises:
            InputError: there is none.
        """
        known = {each: encoder for each, encoder in self.named.items() if encoder in self.encoders}
        if name not in known:
            raise unnamed(name, known)
        return known[name]

    def task(self, name: str) -> TrainedTask:
        """The task of that name.

        Raises:
            InputError: there is none.
        """
        if name not in self.tasks:
            near = did_you_mean(name, self.tasks)
            raise InputError(f"{name!r} is no task of the study{near}; there are {', '.join(self.tasks) or 'none'}")
        return self.tasks[name]

    def tunings(self, names: Sequence[str]) -> Iterator[tuple[Tune, ...]]:
        """Those of several tasks, of one encoder under one schedule with one seed each time."""
        for encoder, seed in self.conditions:
            yield from self.tunings_of(encoder, seed, names)

    def tunings_of(self, encoder: EncoderStep, seed: int, names: Sequence[str]) -> Iterator[tuple[Tune, ...]]:
        """Those of one encoder with one seed, under every schedule; none where a task is not meant for the encoder."""
        tasks = [self.tasks[name] for name in names]
        for schedule in self.schedules if all(task.is_for(encoder) for task in tasks) else ():
            yield tuple(task.tuned(encoder, schedule, seed) for task in tasks)


def unnamed(name: str, known: Iterable[str]) -> InputError:
    """What to raise for a name that none of the encoders has."""
    known = list(known)
    return InputError(f"no encoder is named {name}{did_you_mean(name, known)}; there are {', '.join(known)}")
