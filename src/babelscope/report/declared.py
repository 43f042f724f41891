"""A report of a study: its rows, and what its declaration says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.core.samples import Outcomes, nothing_kept
from babelscope.encoders.places import display_name
from babelscope.engine.progress import language_labels
from babelscope.report.model import Contrasted, Report, Side
from babelscope.report.used import Used
from babelscope.steps.plan import Plan
from babelscope.studies.published_numbers import origins, published_rows
from babelscope.study.declare import Contrast, Study, dump_study
from babelscope.study.encoders import Adaptation, BringingIn, Pretraining
from babelscope.study.verdicts import ADAPTED, SCRATCH, brought_in_by
from babelscope.surgery import Operation, parse_operation
from babelscope.tuning.schedule import parse_schedule

Value = TypeVar("Value")


def report_of(
    study: Study,
    rows: Sequence[Row],
    *,
    title: str = "",
    provenance: Mapping[str, Any] | None = None,
    outcomes: Outcomes = nothing_kept,
    plan: Plan | None = None,
    command: str = "",
    missing: str = "",
    doubts: Sequence[str] = (),
) -> Report:
    """The report of a study's rows, with the published numbers that stand beside them.

    Args:
        study: what was declared.
        rows: of the study, as `engine.progress.study_rows` gives them.
        title: heads the report; the study's name if none is given.
        provenance: where the numbers come from, for the end of the page.
        outcomes: what evaluations kept of every sentence, as `engine.progress.sentence_outcomes` gives it; without
            them intervals are over seeds alone.
        plan: of the study; without it nothing is said of data and encoders in papers, of steps on pages, and of claims
            that wait for results, so that it goes with what is `missing`.
        command: what computes the rows again.
        missing: what an unfinished study lacks, as a sentence.
        doubts: what is to be said of data that make scores mean less than they seem to.
    """
    published = published_rows(study.name)
    return Report(
        title=title or study.name,
        question=study.question,
        command=command,
        missing=missing,
        doubts=doubts,
        rows=[*rows, *published],
        declaration=dump_study(study),
        labels=language_labels(row.language for row in rows),
        provenance={"seeds": ", ".join(map(str, study.seeds)), **(provenance or {}), **_published(study.name)},
        contrasts=[_contrasted(contrast) for contrast in study.contrasts],
        surgeries=_operations(published) | {surgery.name: surgery.operations for surgery in study.surgeries if surgery},
        left_out=study.left_out,
        used=Used(study, plan) if plan else None,
        recipes=_recipes(study),
        brought_in={encoder.name: encoder for encoder in _brought_in(study)},
        outcomes=outcomes,
        main={task.name: task.measures[0] for task in map(study.task, study.tasks)},
        schedules=_read(parse_schedule, (row.schedule for row in published))
        | {schedule.name: schedule for schedule in study.schedules if schedule},
    )


def _published(study: str) -> dict[str, str]:
    """Where its published numbers are from."""
    told = "; ".join(f"{origin.what}: {origin.where}" for origin in origins(study))
    return {"published numbers": told} if told else {}


def _recipes(study: Study) -> dict[str, str]:
    """By name, how an encoder that the study makes serves one language that another encoder has never seen."""
    recipes = {}
    for encoder in study.encoders:
        if isinstance(encoder, Adaptation | Pretraining):
            recipes[encoder.name] = ADAPTED if isinstance(encoder, Adaptation) else SCRATCH
        elif isinstance(encoder, BringingIn) and encoder.pairs and len(encoder.languages) == 1:
            recipes[encoder.name] = brought_in_by(encoder.pairs)
    return recipes


def _brought_in(study: Study) -> Iterator[BringingIn]:
    """What languages are brought into, with the names that rows have for the encoders that they go into."""
    made = [encoder.name for encoder in study.encoders if not isinstance(encoder, str)]
    for encoder in study.encoders:
        if isinstance(encoder, BringingIn):
            start = encoder.encoder if encoder.encoder in made else display_name(encoder.encoder)
            yield encoder.model_copy(update={"encoder": start})


def _contrasted(contrast: Contrast) -> Contrasted:
    first, second = (Side(side.encoder, side.surgery, side.schedule) for side in (contrast.first, contrast.second))
    return Contrasted(contrast.claim, first, second, contrast.tasks, contrast.languages, contrast.margin)


def _operations(published: Iterable[Row]) -> dict[str, tuple[Operation, ...]]:
    """Published rows name an operation by its text."""
    return {
        name: (operation,) for name, operation in _read(parse_operation, (row.surgery for row in published)).items()
    }


def _read(parse: Callable[[str], Value], names: Iterable[str | None]) -> dict[str, Value]:
    """What can be read of names that are declarations as text; other names stand for what the study declares."""
    parsed: dict[str, Value] = {}
    for name in dict.fromkeys(name for name in names if name):
        try:
            parsed[name] = parse(name)
        except InputError:
            continue
    return parsed
