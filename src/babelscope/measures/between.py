"""What measures of models between tuned ones have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from babelscope.core.errors import InputError
from babelscope.core.row import BETWEEN
from babelscope.measures.compiled import Compiled
from babelscope.steps import EncoderStep, Tune

if TYPE_CHECKING:
    from torch import Tensor

    Weights = Mapping[str, Tensor]


def path_labels(models: Sequence[Tune], *further: str) -> dict[str, Any]:
    """The columns of the first model, and the `path` from it to the others: `qaa > qaa+qab:10`."""
    return models[0].labels | {"path": BETWEEN.join([*(str(model.trained_on) for model in models), *further])}


def edition_of(model: Tune) -> int:
    """2 of models with their family's own head, whose pooler counted as a part of the encoder once; 1 of all others."""
    return 2 if model.head == "family" else 1


def check_alike(models: Sequence[Tune]) -> None:
    """Refuse models whose classes stand for different entities, though they may be as many, and rounded weights.

    Raises:
        InputError: names the types of both, or the model that is rounded.
    """
    first, *others = models
    if rounded := next((model for model in models if model.compact), None):
        raise InputError(f"{rounded.title}: its weights were rounded (keep: compact), and are not to be measured")
    for other in others:
        if other.task.labels != first.task.labels:
            ours, theirs = (", ".join(model.task.labels) for model in (first, other))
            raise InputError(f"models of different classes cannot be combined: {ours}; {theirs}")
        if other.entity_types != first.entity_types:
            types = "; ".join(", ".join(model.entity_types) for model in (first, other))
            raise InputError(f"models of different entity types cannot be combined: {types}. Map them to the same")


def check_tasks(names: Sequence[str], compiled: Compiled) -> None:
    """Refuse tasks whose models cannot be combined.

    Raises:
        InputError: one is not in the study, comes twice, is another task or has another head than the first; or no
            encoder is tuned on all of them.
    """
    tasks = [compiled.task(name) for name in names]
    if len(set(names)) < len(names):
        raise InputError(f"{', '.join(names)}: a model and itself; give different tasks")
    first, *others = [(str(task.task), task.transfer.head) for task in tasks]
    for name, other in zip(names[1:], others, strict=True):
        if other != first:
            raise InputError(f"{names[0]} and {name} are models of different shapes; give tasks of one kind and head")
    if encoders_of(names, compiled) == set():
        raise InputError(f"no encoder is tuned on all of {', '.join(names)}; see their `encoders`")


def encoders_of(names: Sequence[str], compiled: Compiled) -> set[EncoderStep] | None:
    """The encoders that are tuned on all of these tasks; None: all of the study."""
    tasks = [compiled.tasks[name] for name in names if name in compiled.tasks]
    meant = [set(task.encoders) for task in tasks if task.encoders]
    return set.intersection(*meant) if meant else None
