"""The study: a frozen declaration of which encoders are tuned on what, and measured on what."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    field_validator,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.names import Name, checked_name
from babelscope.core.tasks import Task
from babelscope.core.validation import validate
from babelscope.core.yaml import read_yaml, to_yaml
from babelscope.measures import AnyMeasure
from babelscope.study.encoders import DeclaredEncoder
from babelscope.study.old_keys import with_measures
from babelscope.study.sizes import EVERYTHING, NO_LIMIT, Sizes
from babelscope.study.transfer import Transfer, check_transfers, declared_task
from babelscope.surgery import AnyOperation
from babelscope.tuning.schedule import DeclaredSchedule, Schedule

__all__ = [
    "EVERYTHING",
    "NO_LIMIT",
    "Condition",
    "Contrast",
    "Seed",
    "Sizes",
    "Study",
    "Surgery",
    "Transfer",
    "dump_study",
    "load_study",
]  # fmt: skip

MOST_MODELS = 100_000
"""Of a study. To plan them takes minutes, and to tune them, with a minute for each, ten weeks."""
Seed = Annotated[int, Field(ge=0, lt=2**63)]
"""Files of rows hold numbers of 64 bits."""


def _of_a_study(name: str) -> str:
    if not all(part.strip(".") for part in name.split("@")):
        raise ValueError("should not be of dots alone, which are folders' names; give it a letter or a digit")
    return checked_name(name)


StudyName = Annotated[str, AfterValidator(_of_a_study)]


class Surgery(Declaration):
    """Operations on an encoder's weights, applied one after the other, under one name.

    A surgery can also be written as text, such as `reverse` or `drop:last=3`. The text is then its name.
    """

    name: Name = Field(min_length=1)
    """Its name in rows and reports."""
    operations: tuple[AnyOperation, ...] = Field(min_length=1)
    """They are applied in this order. A donor is named like an entry of `encoders`: it is an encoder of the study or
    another one."""
    encoders: tuple[str, ...] = ()
    """The encoders that are operated on, by their names in rows. Empty: all."""


def _surgery(given: Any) -> Any:
    return {"name": given, "operations": [given]} if isinstance(given, str) else given


DeclaredSurgery = Annotated[Surgery, BeforeValidator(_surgery)]


Keep = Literal["best", "rows", "compact"]


class Condition(Declaration):
    """An encoder of the study, unchanged or after a surgery, and how it is trained, by the names in rows."""

    encoder: str
    """Its name."""
    surgery: str | None = None
    """The surgery's name; None: the encoder is unchanged."""
    schedule: str | None = Field(default=None, min_length=1)
    """The schedule's name. Left out here where the other condition names one, it is the schedule `null`.

    Where neither names one, the two are compared under every schedule. Baselines have none. `bilstm` is compared with
    an encoder under the one that the encoder's condition names, else under `null`; other baselines under every one.
    What is not among the study's `schedules`, `null` included, is refused.
    """


class Contrast(Declaration):
    """A claim that the study tests: the first condition scores better than the second, or about as well."""

    claim: str = Field(min_length=1)
    """In words, such as `reversed layers are better than a fresh encoder`. Contrasts with the same claim stand
    together."""
    first: Condition
    """The condition that should be better."""
    second: Condition
    """The condition that it is compared with."""
    tasks: tuple[str, ...] = ()
    """The tasks, by their names in rows. Empty: all."""
    languages: tuple[str, ...] = ()
    """The languages, by their codes in rows. Empty: all."""
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    """With a margin the claim is another: the two are as good as each other, since they differ by less than this.

    The margin is in the unit of the score: 0.02 is two points of 100. For perplexities it is a share: 0.02 is 2%.
    """


class Study(Declaration):
    """Every encoder under every surgery is tuned on every task with every seed, and scored on the task's data sets."""

    name: StudyName = Field(pattern=r"^[\w.-]+(@[\w.-]+)?$")
    """Letters, digits, `_`, `.` and `-`. It is in every row."""
    question: str = ""
    """What the study asks, in words. It heads the report."""
    encoders: tuple[DeclaredEncoder, ...] = Field(min_length=1)
    """Names from `babelscope list encoders`, folders, names on the Hugging Face hub, or encoders to make."""
    surgeries: tuple[DeclaredSurgery | None, ...] = Field(default=(None,), min_length=1)
    """Changes of the weights before tuning; None: the encoder is unchanged."""
    schedules: tuple[DeclaredSchedule | None, ...] = Field(default=(None,), min_length=1)
    """Which part of an encoder is trained, and when; None: all of it, all the time."""
    references: tuple[DeclaredEncoder, ...] = ()
    """Encoders that are not tuned. Probes measure their perplexity, and how far the other encoders are from them."""
    tasks: dict[Name, Transfer] = Field(default={})
    """What is trained and scored, each under a name.

    The name is that of a task, such as `pos`. Or it is any name, and the key `task` inside says what is trained: so one
    task can be trained more than once. A study without tasks measures encoders without tuning them.
    """
    seeds: tuple[Seed, ...] = Field(default=(0, 1, 2), min_length=1)
    """Every tuning is done once with each seed."""
    measures: tuple[AnyMeasure, ...] = ()
    """What is measured besides the scores of the tasks."""
    contrasts: tuple[Contrast, ...] = ()
    """Claims that the study tests. The report says of each whether it shows."""
    world_seed: Seed = 0
    """The seed of the artificial world.

    The shipped encoders know the world of seed 0. Text that a study's encoders are trained on has a `seed` of its own.
    """
    keep: Keep = "best"
    """What the store keeps of each tuning.

    - `best`: its rows and its best weights.
    - `rows`: its rows alone. The weights are dropped once no step of the study reads them any more. What reads them
      later has the tuning computed again. The numbers are the same as with `best`.
    - `compact`: its rows and its best weights, which are rounded and take a quarter of the bytes. The scores are those
      of the rounded weights.
    """
    left_out: dict[str, str] = Field(default={})
    """What a reader may look for and not find, with the reason, such as a language without data. Plan and report say
    it."""

    @model_validator(mode="wrap")
    @classmethod
    def _old_keys(cls, given: Any, validated: ModelWrapValidatorHandler[Study]) -> Study:
        return with_measures(given, validated)

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not (self.tasks or self.measures):
            raise ValueError("nothing to do: give tasks, measures, or both")
        conditions = (self.encoders, self.surgeries, self.schedules, self.seeds, self.tasks or (None,))
        if (models := prod(map(len, conditions))) > MOST_MODELS:
            raise ValueError(f"{models:,} models would be tuned; {MOST_MODELS:,} are the most")
        return self

    @model_validator(mode="after")
    def _measures_no_rounded_weights(self) -> Self:
        of_weights = [getattr(each, each.by) for each in self.measures if each.reads_weights]
        if self.keep == "compact" and of_weights:
            raise ValueError(
                f"keep: compact rounds weights, and {' and '.join(dict.fromkeys(of_weights))} would measure that; take "
                "keep: best, or keep: rows"
            )
        return self

    def task(self, name: str) -> Task:
        """The task of the transfer of that name; where it is one of the study's own, its classes are not known yet."""
        return declared_task(name, self.tasks)

    @field_validator("seeds")
    @classmethod
    def _each_once(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is given twice; a repeated seed repeats its numbers")
        return seeds

    @field_validator("surgeries", "schedules")
    @classmethod
    def _names_differ(cls, given: tuple[Surgery | Schedule | None, ...]) -> tuple[Surgery | Schedule | None, ...]:
        names = [condition.name for condition in given if condition]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two are named {twice!r}; rows could not tell them apart")
        return given

    @field_validator("surgeries")
    @classmethod
    def _operations_differ(cls, given: tuple[Surgery | None, ...]) -> tuple[Surgery | None, ...]:
        _check_differ("operations", (((each.operations, each.encoders), each.name) for each in given if each))
        return given

    @field_validator("schedules")
    @classmethod
    def _schedules_differ(cls, given: tuple[Schedule | None, ...]) -> tuple[Schedule | None, ...]:
        _check_differ("schedule", ((each.without_name, each.name) for each in given if each))
        return given

    @field_validator("tasks")
    @classmethod
    def _suited(cls, tasks: dict[str, Transfer]) -> dict[str, Transfer]:
        check_transfers(tasks)
        return tasks


def _check_differ(what: str, given: Iterable[tuple[Hashable, str]]) -> None:
    names: dict[Hashable, str] = {}
    for each, name in given:
        first = names.setdefault(each, name)
        if first != name:
            raise ValueError(f"{first!r} and {name!r} are the same {what}; leave one of them out")


def load_study(path: Path, changes: dict[str, Any] | None = None) -> Study:
    """Read a study from a YAML file; `changes` (dotted key -> value) replace or add entries.

    Raises:
        DataError: the file cannot be read or is not YAML; the message names the line.
        StudyError: unknown keys or values that are not allowed, all of them at once, each with its path.
    """
    declared = read_yaml(path)
    for key, value in (changes or {}).items():
        if not isinstance(key, str):
            raise InputError(f"{key!r:.100}: give a key of the study as text, such as tasks.pos.sizes.train")
        _set(declared, key, value)
    return validate(Study, declared, str(path))


def dump_study(study: Study) -> str:
    """The study as YAML, defaults included, so that it says everything that was done."""
    return to_yaml(study.model_dump(mode="json"))


def _set(declared: dict[str, Any], dotted: str, value: Any) -> None:
    *parents, last = dotted.split(".")
    inside: Any = declared
    for parent in parents:
        inner = inside.get(parent, {}) if isinstance(inside, dict) else _entry(inside, parent, dotted)
        if not isinstance(inner, dict | list):
            raise InputError(f"--with {dotted}: {parent} is not a mapping")
        inner = inner.copy()  # an alias of YAML stands for it in other places, too, which are not meant
        inside[parent if isinstance(inside, dict) else int(parent)] = inner
        inside = inner
    if isinstance(inside, list):
        _entry(inside, last, dotted)
        inside[int(last)] = value
    else:
        inside[last] = value


def _entry(entries: list[Any], number: str, dotted: str) -> Any:
    """An entry of a list, counted from 0, as in the paths of faults."""
    if number not in map(str, range(len(entries))):
        problem = f"{number:.100} is no entry of the list, which has {len(entries)}, counted from 0"
        raise InputError(f"--with {dotted:.100}: {problem}")
    return entries[int(number)]
