"""A plan: the deduplicated graph of steps that a study compiles into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError, StudyError
from babelscope.core.step import Step
from babelscope.corpora.datasets import FileData
from babelscope.corpora.parallel_sentences import ParallelTranslations, ParallelTreebanks


@dataclass(frozen=True)
class Plan:
    """Steps by key, every input before what reads it."""

    steps: dict[str, Step]

    @classmethod
    def of(cls, targets: Iterable[Step]) -> Plan:
        """The steps that `targets` need, each once."""
        ordered: dict[str, Step] = {}

        def visit(step: Step) -> None:
            if step.key not in ordered:
                for needed in step.inputs:
                    visit(needed)
                ordered[step.key] = step

        for target in targets:
            visit(target)
        return cls(ordered)


def check_data(steps: Iterable[Step]) -> None:
    """Read every file of data that the steps read, so that a malformed one is refused before anything is computed.

    Treebanks and translations that are to be parallel are aligned, too.

    Raises:
        StudyError: the files at fault, each with its first fault's line.
    """
    faults: dict[str, str] = {}  # by what is wrong: several splits and tasks can read one file
    seen: dict[int, object] = {}
    for data in dict.fromkeys(data for step in steps for data in _files(step, seen)):
        try:
            if isinstance(data, FileData):
                data.check()
            else:
                data.read()
        except InputError as error:
            where = f"{data.name}, {data.split}: " if isinstance(data, FileData) else ""
            faults.setdefault(str(error), f"{where}{error}")
    if faults:
        raise StudyError("malformed data", list(faults.values()))


def check_device(steps: Iterable[Step]) -> None:
    """Refuse steps on a CUDA device where there is none; torch is loaded only if a step asks for one.

    Raises:
        InputError: a step's device is cuda, and torch sees no such device.
    """
    if any(step.needs.gpus for step in steps):
        import torch

        if not torch.cuda.is_available():
            raise InputError("tuning.device is cuda, but torch sees no CUDA device here: declare device: cpu")


def _files(value: object, seen: dict[int, object]) -> Iterator[FileData | ParallelTreebanks | ParallelTranslations]:
    """The data in files that a step reads itself, wherever in its fields they are declared.

    `seen` has what was looked at before, by its identity: steps share most of what they declare.
    """
    if isinstance(value, tuple):
        for part in value:
            yield from _files(part, seen)
    elif isinstance(value, Declaration) and id(value) not in seen:
        seen[id(value)] = value
        for part in vars(value).values():
            if not isinstance(part, Step):
                yield from _files(part, seen)
        if isinstance(value, FileData | ParallelTreebanks | ParallelTranslations):
            yield value
