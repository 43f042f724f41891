"""What a study used: its data, the encoders that it did not make itself, and its trainings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from babelscope.core.declaration import Declaration
from babelscope.corpora.datasets import FileData
from babelscope.corpora.parallel import FilePairs, NamedPairs
from babelscope.encoders.places import shipped_encoders
from babelscope.steps.encoder import Load
from babelscope.steps.plan import Plan, declared
from babelscope.study.declare import Study
from babelscope.study.encoders import BringingIn
from babelscope.study.trainings import Training, settings, trainings


class UsedData(NamedTuple):
    """A data set, as the study names it, and the digests of its files."""

    name: str
    sha256: tuple[str, ...]


class UsedEncoder(NamedTuple):
    """An encoder that was there before the study: its name, and the digest of its files or its commit on the hub."""

    name: str
    content: str
    on_hub: bool


@dataclass(frozen=True)
class Used:
    """Of a study and its plan. Reads both when it is asked, since only papers ask."""

    study: Study
    plan: Plan

    @cached_property
    def data(self) -> list[UsedData]:
        """Data sets in files, by name, each with the digests of all its files that are read."""
        digests: dict[str, set[str]] = {}
        for value in self._values:
            for name, sha256 in _files(value):
                digests.setdefault(name, set()).update(sha256)
        return [UsedData(name, tuple(sorted(digests[name]))) for name in sorted(digests)]

    @cached_property
    def has_world(self) -> bool:
        """Whether data of the artificial world are read."""
        return any("world_version" in type(value).model_fields for value in self._values)

    @cached_property
    def encoders(self) -> list[UsedEncoder]:
        """In the order of the plan."""
        loads = dict.fromkeys(value for value in self._values if isinstance(value, Load))
        return [UsedEncoder(load.name, load.content, _is_on_hub(load)) for load in loads]

    @cached_property
    def trainings(self) -> dict[tuple[tuple[str, str], ...], list[str]]:
        """Settings, as pairs of name and value -> the trainings that have these."""
        groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for training in (*trainings(self.study), *self._distillations()):
            declared = {**settings(training), "device": training.tuning.device, "threads": f"{training.tuning.threads}"}
            groups.setdefault(tuple(declared.items()), []).append(training.name)
        return groups

    def _distillations(self) -> Iterator[Training]:
        for encoder in (*self.study.encoders, *self.study.references):
            if isinstance(encoder, BringingIn) and encoder.distil:
                yield Training(f"encoders.{encoder.name}", encoder.distil.tuning, None, 1)

    @cached_property
    def _values(self) -> list[Declaration]:
        """All steps, and all that is declared in them."""
        return list(declared(self.plan.steps.values()))


def _files(value: Declaration) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(value, FileData):
        yield value.name, (value.sha256,)
    elif isinstance(value, NamedPairs):
        yield value.name, value.sha256
    elif isinstance(value, FilePairs):
        for name, sha256 in zip(value.names, value.sha256, strict=True):
            yield name, (sha256,)


def _is_on_hub(load: Load) -> bool:
    """A folder that was there when the study was planned has another place than its name."""
    return load.place == load.name and load.name not in shipped_encoders() and not Path(load.place).is_dir()
