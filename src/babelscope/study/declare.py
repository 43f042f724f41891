"""The study: a frozen declaration of which encoders are tuned on what, and measured on what."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Self, cast

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    PositiveInt,
    Tag,
    field_validator,
    model_validator,
)

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.tasks import BASELINES, HEADS, TASKS, BaselineName, TaskName
from babelscope.core.validation import validate
from babelscope.core.yaml import read_yaml, to_yaml
from babelscope.corpora.sources import Split
from babelscope.measures import AnyMeasure
from babelscope.measures.probing import Probing
from babelscope.study.encoders import DeclaredEncoder
from babelscope.study.old_keys import with_measures
from babelscope.surgery import AnyOperation
from babelscope.surgery.operations.reinit import Reinit
from babelscope.tuning.schedule import DeclaredSchedule, Schedule
from babelscope.tuning.settings import Tuning

Seed = Annotated[int, Field(ge=0, lt=2**63)]
"""Files of rows hold numbers of 64 bits."""


class Sizes(Declaration):
    """How many examples (sentences, pairs) of each split are read at most."""

    train: Annotated[
        Annotated[PositiveInt, Tag("<one>")] | Annotated[tuple[PositiveInt, ...], Tag("<several>")],
        Discriminator(lambda given: "<several>" if isinstance(given, list | tuple) else "<one>"),
    ] = 1500
    """Of each training set; several numbers: of the first, of the second and so on."""
    dev: PositiveInt = 300
    """Of each dev split."""
    test: PositiveInt = 500
    """Of each data set that is scored."""

    def of(self, split: Split, data_sets: int) -> tuple[int, ...]:
        """One for each data set."""
        size = getattr(self, split)
        return size if isinstance(size, tuple) else (size,) * data_sets


class Surgery(Declaration):
    """Operations on an encoder's weights, one after the other, and the name that they go by.

    In YAML also an operation as text, such as `reverse` or `drop:last=3`, which is then the name too.
    """

    name: str = Field(min_length=1)
    """What rows and reports call it."""
    operations: tuple[AnyOperation, ...] = Field(min_length=1)
    """Done in this order. A donor is the name of an encoder of the study, or of another as `encoders` would name it."""
    encoders: tuple[str, ...] = ()
    """Which encoders are operated on, by the names that rows have; none given: all."""

    @property
    def forgets_all(self) -> bool:
        """Whether it draws all weights anew and does nothing else, so that the encoder is the same one untrained."""
        return self.operations == (Reinit(),)


def _surgery(given: Any) -> Any:
    return {"name": given, "operations": [given]} if isinstance(given, str) else given


DeclaredSurgery = Annotated[Surgery, BeforeValidator(_surgery)]


class Transfer(Declaration):
    """What a task is trained on, and where it is scored.

    Data sets are named `world:CODE` (the artificial world; every task but the real benchmarks), `UD_LANGUAGE-NAME`
    (treebanks) or `treebank:CODE:FILE` (one's own, in CoNLL-U), `masakhaner2:CODE` or `wikiann:CODE` (entities),
    `glue:NAME` or `xnli:NAME` (sentence tasks); for language modelling also `ntrex:CODE` or a text of one's own, a
    sentence a line, `text:CODE:FILE`. With `>` and a transliteration after it, data are in other letters:
    `UD_Uyghur-UDT>uyghur`.
    """

    task: TaskName | None = None
    """Default: what the transfer is named."""
    train: tuple[str, ...] = Field(min_length=1)
    """Training sets, taken together; their dev splits select the best step, by the mean over them."""
    evaluate: tuple[str, ...] = Field(min_length=1)
    """Data sets whose test splits are scored."""
    shots: PositiveInt | None = None
    """Of the second training set and those after it, or of the only one, as many examples at most. These have no dev
    split then, since examples that are few are all trained on; without any, the last step is taken."""
    encoders: tuple[str, ...] = ()
    """Which encoders are tuned on it, by the names that rows have; none given: all."""
    sizes: Sizes = Sizes()
    tuning: Tuning = Tuning()
    head: str | None = None
    """Of parsing: small, underspecified or align-then-predict. Of sentence tasks: first (state), pooler or family."""
    entity_types: dict[str, str] = Field(default={})
    """Of named entities: types in the data and what they count as, O for no entity (`DATE: O`)."""
    baselines: tuple[BaselineName, ...] = ()
    """What is scored beside the encoders; `babelscope list tasks` says which suit the task."""
    probes: Probing | None = None

    @model_validator(mode="after")
    def _a_size_for_each(self) -> Self:
        sizes, sets = self.sizes.of("train", len(self.train)), len(self.train)
        if len(sizes) != sets:
            raise ValueError(f"sizes.train has {len(sizes)} numbers for {sets} training sets: give one, or {sets}")
        return self


class Condition(Declaration):
    """An encoder of the study as it is, or after a surgery, by the names that rows have."""

    encoder: str
    """Its name."""
    surgery: str | None = None
    """The surgery's name; None: the encoder as it is."""


class Contrast(Declaration):
    """An effect that the study looks for: the first condition scores better than the second."""

    claim: str = Field(min_length=1)
    """In words, such as `reversed layers are better than a fresh encoder`; contrasts of one claim stand together."""
    first: Condition
    """What should be better."""
    second: Condition
    """What it is held against."""


class Study(Declaration):
    """Every encoder under every surgery is tuned on every task with every seed, and scored on the task's data sets."""

    name: str = Field(pattern=r"^[\w.-]+(@[\w.-]+)?$")
    """Letters, digits, `_`, `.` and `-`; it is in every row."""
    question: str = ""
    """What the study asks, in words; it heads the report."""
    encoders: tuple[DeclaredEncoder, ...] = Field(min_length=1)
    """Each a name that `babelscope list encoders` knows, a folder, a name on the hub, or an encoder to make."""
    surgeries: tuple[DeclaredSurgery | None, ...] = Field(default=(None,), min_length=1)
    """None: the encoder as it is."""
    schedules: tuple[DeclaredSchedule | None, ...] = Field(default=(None,), min_length=1)
    """Which part of an encoder is trained, and when; None: all of it, all the time."""
    references: tuple[DeclaredEncoder, ...] = ()
    """Encoders that are not tuned: probes measure their perplexity, and how far from them the others are."""
    tasks: dict[str, Transfer] = Field(default={})
    """Named by what is trained; or by any name, with a `task` inside, so that a task can be trained more than once. A
    study without tasks measures encoders as they are."""
    seeds: tuple[Seed, ...] = Field(default=(0, 1, 2), min_length=1)
    """Every tuning is done once with each."""
    measures: tuple[AnyMeasure, ...] = ()
    """What is measured besides the scores of tasks."""
    contrasts: tuple[Contrast, ...] = ()
    """Effects that the study looks for; the report says of each whether it shows."""
    world_seed: Seed = 0
    """Of the artificial world. The shipped encoders know the world of seed 0."""

    @model_validator(mode="wrap")
    @classmethod
    def _old_keys(cls, given: Any, validated: ModelWrapValidatorHandler[Study]) -> Study:
        return with_measures(given, validated)

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not (self.tasks or self.measures):
            raise ValueError("nothing to do: give tasks, measures, or both")
        return self

    @field_validator("seeds")
    @classmethod
    def _each_once(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is given twice; a repeated seed repeats its numbers")
        return seeds

    @field_validator("surgeries", "schedules")
    @classmethod
    def _names_differ(cls, given: tuple[Surgery | Schedule | None, ...]) -> tuple[Surgery | Schedule | None, ...]:
        names = [one.name for one in given if one]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two are named {twice!r}; rows could not tell them apart")
        return given

    @field_validator("tasks")
    @classmethod
    def _suited(cls, tasks: dict[str, Transfer]) -> dict[str, Transfer]:
        for name, transfer in tasks.items():
            task = transfer.task or name
            _check_choice(f"{name}: the task", task, tuple(TASKS))
            kind = TASKS[cast(TaskName, task)].kind
            for baseline in transfer.baselines:
                _check_choice(f"{name}: the baseline", baseline, BASELINES[kind])
            if transfer.head is not None:
                _check_choice(f"{name}: the head", transfer.head, HEADS.get(kind, ()))
            if transfer.entity_types and kind != "entities":
                raise ValueError(f"{name}: entity_types are for ner; leave them out")
        _check_told_apart(tasks)
        return tasks


def _check_told_apart(tasks: dict[str, Transfer]) -> None:
    """Whether tunings that rows give the same names are the same; where they are scored may differ."""
    for (name, one), (other_name, other) in combinations(tasks.items(), 2):
        trained = [(each.task or key, each.train, each.shots) for key, each in ((name, one), (other_name, other))]
        plain = [each.model_copy(update=dict.fromkeys(_PLACES, ()) | {"task": None}) for each in (one, other)]
        share = not (one.encoders and other.encoders) or set(one.encoders) & set(other.encoders)
        if share and trained[0] == trained[1] and plain[0] != plain[1]:
            train = ", ".join(one.train)
            raise ValueError(f"{trained[0][0]} is trained in two ways on {train}; rows could not tell the two apart")


_PLACES = ("evaluate", "encoders", "baselines")
"""What may differ between two transfers that train the same."""


def _check_choice(what: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise ValueError(f"{what} cannot be {given!r}; allowed: {', '.join(allowed) or 'none, leave it out'}")


def load_study(path: Path, changes: dict[str, Any] | None = None) -> Study:
    """Read a study from a YAML file; `changes` (dotted key -> value) replace or add entries.

    Raises:
        DataError: the file cannot be read or is not YAML; the message names the line.
        StudyError: unknown keys or values that are not allowed, all of them at once, each with its path.
    """
    declared = read_yaml(path)
    for key, value in (changes or {}).items():
        _set(declared, key, value)
    return validate(Study, declared, str(path))


def dump_study(study: Study) -> str:
    """The study as YAML, defaults included, so that it says everything that was done."""
    return to_yaml(study.model_dump(mode="json"))


def _set(declared: dict[str, Any], dotted: str, value: Any) -> None:
    *parents, last = dotted.split(".")
    inside: Any = declared
    for parent in parents:
        inside = inside.setdefault(parent, {}) if isinstance(inside, dict) else _entry(inside, parent, dotted)
        if not isinstance(inside, dict | list):
            raise InputError(f"--with {dotted}: {parent} is not a mapping")
    if isinstance(inside, list):
        _entry(inside, last, dotted)
        inside[int(last)] = value
    else:
        inside[last] = value


def _entry(entries: list[Any], number: str, dotted: str) -> Any:
    """An entry of a list, counted from 0, as in the paths of faults."""
    if not number.isdecimal() or int(number) >= len(entries):
        raise InputError(f"--with {dotted}: {number} is no entry of the list, which has {len(entries)}, counted from 0")
    return entries[int(number)]
