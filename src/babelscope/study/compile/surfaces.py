"""The steps that measure models between tuned ones, from a study's interpolations and angles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from babelscope.core.errors import InputError
from babelscope.core.step import Step
from babelscope.corpora import datasets
from babelscope.corpora.datasets import Dataset
from babelscope.measures.grid import PATH, PLANE, RANDOM, SEEDS, grid
from babelscope.steps import EncoderStep, Tune
from babelscope.study.compile.faults import Faults
from babelscope.study.compile.transfers import ResolvedTransfer
from babelscope.study.declare import Study
from babelscope.study_measures import Interpolation
from babelscope.surface_steps import Angle, Surface

Conditions = Sequence[tuple[EncoderStep, int]]
"""Operated encoders and seeds."""
Transfers = Mapping[str, ResolvedTransfer]


def find_data(study: Study, transfers: Transfers, faults: Faults) -> list[tuple[Dataset, ...]]:
    """What the models of each interpolation are scored on; the tasks of interpolations and angles are checked too."""
    for k, names in enumerate(study.angles):
        faults.resolve(f"angles.{k}", _check_tasks, names, study, transfers)
    found = [_data(study, k, transfers, faults) for k in range(len(study.interpolations))]
    _check_told_apart(study, found, transfers, faults)
    return found


def surfaces(
    study: Study, data: Sequence[tuple[Dataset, ...]], transfers: Transfers, conditions: Conditions
) -> Iterator[Step]:
    """Every interpolation and angle, for every encoder, surgery, schedule and seed."""
    for declared, found in zip(study.interpolations, data, strict=True):
        types = transfers[declared.tasks[0]].entity_types
        scored = tuple(datasets.limited(one, types) for one in found) if types else found
        if len(declared.tasks) == 1 and not declared.random:
            yield from _between_seeds(study, declared, scored, transfers, conditions)
            continue
        directions = declared.random or len(declared.tasks) - 1
        usual = RANDOM if declared.random else PATH if directions == 1 else PLANE
        points = tuple(grid(declared.alphas or usual, directions))
        for models in _models(study, declared.tasks, transfers, conditions):
            yield Surface(
                models=models, random=tuple(range(declared.random or 0)), part=declared.part, points=points, data=scored
            )
    for names in study.angles:
        for origin, first, second in _models(study, names, transfers, conditions):
            yield Angle(models=(origin, first, second))


def _between_seeds(
    study: Study, declared: Interpolation, data: tuple[Dataset, ...], transfers: Transfers, conditions: Conditions
) -> Iterator[Step]:
    """Lines from each seed's model to the next's, and the mean of all: one point, the same share of every model."""
    tuned: dict[tuple[object, ...], list[Tune]] = {}
    for (model,) in _models(study, declared.tasks, transfers, conditions):
        tuned.setdefault(tuple((model.labels | {"seed": None}).items()), []).append(model)
    for models in tuned.values():
        for pair in pairwise(models):
            points = tuple(grid(declared.alphas or SEEDS, 1))
            yield Surface(models=pair, part=declared.part, points=points, data=data)
        shares = (1 / len(models),) * (len(models) - 1)
        yield Surface(models=tuple(models), part=declared.part, points=(shares,), data=data)


def _data(study: Study, k: int, transfers: Transfers, faults: Faults) -> tuple[Dataset, ...]:
    path, declared = f"interpolations.{k}", study.interpolations[k]
    faults.resolve(path, _check_tasks, declared.tasks, study, transfers)
    if len(declared.tasks) == 1 and len(study.seeds) == 1 and not declared.random:
        faults.add(f"{path}.tasks", "one task has models to combine if there is more than one seed; give another")
    name = declared.tasks[0]
    if name not in study.tasks:
        return ()
    task, types = transfers[name].task, study.tasks[name].entity_types
    split, size, seed = declared.split, declared.sentences, study.world_seed
    return faults.resolve_all(
        f"{path}.evaluate", lambda one: datasets.find(task, one, split, size, seed, types), declared.evaluate
    )


def _check_told_apart(study: Study, data: Sequence[tuple[Dataset, ...]], transfers: Transfers, faults: Faults) -> None:
    """Whether the same models are scored on the same sentences of a language, wherever they are scored on it."""
    seen: dict[object, list[tuple[Dataset, set[EncoderStep] | None]]] = {}
    for k, (declared, found) in enumerate(zip(study.interpolations, data, strict=True)):
        tasks = [(name, study.tasks[name]) for name in declared.tasks if name in study.tasks]
        models = tuple((str(transfers[name].task), task.train, task.shots) for name, task in tasks)
        meant = _meant([name for name, _ in tasks], transfers)
        for one in found:
            others = seen.setdefault((models, declared.random, declared.part, declared.split, one.code), [])
            for other, encoders in others:
                if one != other and (meant is None or encoders is None or meant & encoders):
                    faults.add(
                        f"interpolations.{k}.evaluate",
                        f"these models are scored on {_sentences(one)} and on {_sentences(other)}, both of "
                        f"{one.code}; a line has one score a language: leave one out, or give the same `sentences`",
                    )
            others.append((one, meant))


def _sentences(data: Dataset) -> str:
    return f"{data.examples} sentences of {data.name}"


def _meant(names: Sequence[str], transfers: Transfers) -> set[EncoderStep] | None:
    """The encoders that are tuned on all of these tasks; None: all of the study."""
    meant = [set(transfers[name].encoders) for name in names if transfers[name].encoders]
    return set.intersection(*meant) if meant else None


def _check_tasks(names: Sequence[str], study: Study, transfers: Transfers) -> None:
    """Refuse tasks whose models cannot be combined.

    Raises:
        InputError: one is not in the study, comes twice, is another task or has another head than the first; or no
            encoder is tuned on all of them.
    """
    for name in names:
        if name not in study.tasks:
            raise InputError(f"{name!r} is no task of the study; there are {', '.join(study.tasks)}")
    if len(set(names)) < len(names):
        raise InputError(f"{', '.join(names)}: a model and itself; give different tasks")
    first, *others = [(str(transfers[name].task), study.tasks[name].head) for name in names]
    for name, other in zip(names[1:], others, strict=True):
        if other != first:
            raise InputError(f"{names[0]} and {name} are models of different shapes; give tasks of one kind and head")
    if _meant(names, transfers) == set():
        raise InputError(f"no encoder is tuned on all of {', '.join(names)}; see their `encoders`")


def _models(
    study: Study, names: Sequence[str], transfers: Transfers, conditions: Conditions
) -> Iterator[tuple[Tune, ...]]:
    tasks = [transfers[name] for name in names]
    for encoder, seed in conditions:
        for schedule in study.schedules if all(task.is_for(encoder) for task in tasks) else ():
            yield tuple(task.tuned(encoder, schedule, seed) for task in tasks)
