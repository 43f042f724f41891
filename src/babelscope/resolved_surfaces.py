"""The steps that measure models between tuned ones, from a study's interpolations and angles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from babelscope.corpora.datasets import Dataset
from babelscope.errors import InputError
from babelscope.measures.grid import PATH, PLANE, grid
from babelscope.resolved import ResolvedTransfer
from babelscope.step import Step
from babelscope.steps import EncoderStep, Tune
from babelscope.study import Study
from babelscope.study_measures import Interpolation
from babelscope.surface_steps import Angle, Surface

Conditions = Sequence[tuple[EncoderStep, int]]
"""Operated encoders and seeds."""


def surfaces(
    declared: Interpolation,
    data: tuple[Dataset, ...],
    transfers: Mapping[str, ResolvedTransfer],
    conditions: Conditions,
    study: Study,
) -> Iterator[Step]:
    """One for every encoder, surgery, schedule and seed."""
    directions = len(declared.tasks) - 1
    points = tuple(grid(declared.alphas or (PATH if directions == 1 else PLANE), directions))
    for models in _models(declared.tasks, transfers, conditions, study):
        yield Surface(models=models, part=declared.part, points=points, data=data)


def angles(
    tasks: tuple[str, str, str], transfers: Mapping[str, ResolvedTransfer], conditions: Conditions, study: Study
) -> Iterator[Step]:
    """Likewise."""
    for origin, first, second in _models(tasks, transfers, conditions, study):
        yield Angle(models=(origin, first, second))


def check_tasks(names: Sequence[str], study: Study) -> None:
    """Refuse tasks whose models cannot be combined.

    Raises:
        InputError: one is not in the study, comes twice, or is another task or has another head than the first.
    """
    for name in names:
        if name not in study.tasks:
            raise InputError(f"{name!r} is no task of the study; there are {', '.join(study.tasks)}")
    if len(set(names)) < len(names):
        raise InputError(f"{', '.join(names)}: a model and itself; give different tasks")
    first, *others = [(study.tasks[name].task or name, study.tasks[name].head) for name in names]
    for name, other in zip(names[1:], others, strict=True):
        if other != first:
            raise InputError(f"{names[0]} and {name} are models of different shapes; give tasks of one kind and head")


def _models(
    tasks: Sequence[str], transfers: Mapping[str, ResolvedTransfer], conditions: Conditions, study: Study
) -> Iterator[tuple[Tune, ...]]:
    for encoder, seed in conditions:
        for schedule in study.schedules:
            yield tuple(transfers[name].tuned(encoder, schedule, seed) for name in tasks)
