"""A plan: the deduplicated graph of steps that a study compiles into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from babelscope.core.declaration import Declaration
from babelscope.core.devices import check_device
from babelscope.core.errors import EncoderError, InputError, StudyError
from babelscope.core.step import Step
from babelscope.corpora.datasets import FileData
from babelscope.corpora.parallel_sentences import ParallelTranslations, ParallelTreebanks
from babelscope.encoders.footprint import SHAPE
from babelscope.encoders.places import SHAPE_ALONE
from babelscope.steps.encoder import Load
from babelscope.tasks.kinds import kind_of

_MAY_HOLD = (tuple, Declaration)
"""What a declaration may be in. Most of what steps hold are numbers, such as the points of a line."""


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

    What is not here is left out.

    Treebanks and translations that are to be parallel are aligned, too.

    Raises:
        StudyError: the files at fault, each with its first fault's line.
    """
    faults: dict[str, str] = {}  # by what is wrong: several splits and tasks can read one file
    read = (
        value for value in declared(steps) if isinstance(value, FileData | ParallelTreebanks | ParallelTranslations)
    )
    for data in dict.fromkeys(read):
        if absent([data]):
            continue
        try:
            if isinstance(data, FileData):
                data.check()
                kind_of(data.task).check_examples(data.read())
            else:
                data.read()
        except InputError as error:
            where = f"{data.name}, {data.split}: " if isinstance(data, FileData) else ""
            faults.setdefault(str(error), f"{where}{error}")
    if faults:
        raise StudyError("malformed data", list(faults.values()))


def absent(declarations: Iterable[Declaration]) -> list[FileData]:
    """The data in them of which no file is here, but a known number of examples; a run has none."""
    return [value for value in declared(declarations) if isinstance(value, FileData) and not value.is_here]


def check_devices(steps: Iterable[Step]) -> None:
    """Refuse steps on a device that is not there; torch is loaded only if a step asks for an accelerator.

    Raises:
        InputError: torch sees no device of the kind that a step asks for.
    """
    for device in sorted({step.needs.device for step in steps}):
        check_device(device)


def check_libraries(steps: Iterable[Step]) -> None:
    """Refuse steps that take a library which is not installed here.

    Raises:
        InputError: names the first, and how to install it.
    """
    for module, extra in {name: extra for step in steps for name, extra in step.libraries.items()}.items():
        if not find_spec(module):
            raise InputError(f"{module} is not installed: pip install 'babelscope[{extra}]'")


def check_encoders(steps: Iterable[Step]) -> None:
    """Refuse steps on encoders of which there is a shape alone.

    Raises:
        EncoderError: names the first.
    """
    for value in declared(steps):
        if isinstance(value, Load) and value.place.startswith(SHAPE):
            raise EncoderError(f"{value.place}: {SHAPE_ALONE}")


def made_of(step: Step) -> Iterator[Step]:
    """A step, and all that it needs directly or through others, each once."""
    seen: set[str] = set()

    def visit(step: Step) -> Iterator[Step]:
        for value in declared([step]):
            if isinstance(value, Step) and value.key not in seen:
                seen.add(value.key)
                yield value
        for needed in step.inputs:
            if needed.key not in seen:
                yield from visit(needed)

    return visit(step)


def declared(steps: Iterable[Declaration]) -> Iterator[Declaration]:
    """Steps, and all that stands in their fields, the parts of a value before it; each once.

    Of the steps that a step needs, those come with it that are computed with it, as encoders are.
    """
    seen: dict[int, object] = {}  # by identity: steps share most of what they declare

    def visit(value: object, is_given: bool = False) -> Iterator[Declaration]:
        if isinstance(value, Step) and value.stored and not is_given:
            return
        if isinstance(value, tuple):
            for part in value:
                if isinstance(part, _MAY_HOLD):
                    yield from visit(part)
        elif isinstance(value, Declaration) and id(value) not in seen:
            seen[id(value)] = value
            for part in vars(value).values():
                if isinstance(part, _MAY_HOLD):
                    yield from visit(part)
            yield value

    for step in steps:
        yield from visit(step, is_given=True)
