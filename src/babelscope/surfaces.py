"""What steps compute that measure models between tuned ones. Only running steps import this module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from babelscope.core.errors import InputError
from babelscope.core.row import Row
from babelscope.core.scores import MEASURES
from babelscope.core.step import Workspace
from babelscope.corpora.datasets import data_labels
from babelscope.encoders.blend import Blend, moved, random_direction
from babelscope.encoders.load import Encoder
from babelscope.encoders.state import backbone_prefix
from babelscope.measures.geometry import turns
from babelscope.measures.surface import survey
from babelscope.steps import Tune
from babelscope.surface_steps import Angle, Part, Surface
from babelscope.surgery.parts import Place, place_of
from babelscope.tasks.measured import measured
from babelscope.tasks.models import TaskModel

Weights = Mapping[str, Tensor]
BACKBONE = "backbone."


def measure_surface(step: Surface, workspace: Workspace) -> None:
    """Write every measure at every point, each point as it is done; those that a killed attempt has done stay."""
    torch.set_num_threads(step.models[0].tuning.threads)
    _check_alike(step.models)
    done = _finished(step, workspace)
    left = [point for point in step.points if point not in done]
    model = step.models[0].model(workspace)
    model.module.to(step.models[0].tuning.device)
    measures = {data: measured(model, data.read()) for data in step.data}
    corners = [one.weights(workspace) for one in step.models]
    corners += [moved(corners[0], random_direction(corners[0], seed)) for seed in step.random]
    # In the order of their keys: the same sum on every line and plane through the same models.
    order = sorted(range(len(step.models)), key=lambda place: step.models[place].key)
    order += range(len(order), len(corners))
    blend = Blend(model.module, [corners[place] for place in order], _names(model, step.part))
    for count, (point, found) in enumerate(survey(blend, order, left, measures), len(step.points) - len(left) + 1):
        where = step.labels | dict(zip(("alpha1", "alpha2"), point, strict=False))
        workspace.add_rows(
            Row(measure, value, _unit(measure)).labelled(**where, **data_labels(data))
            for data, values in found.items()
            for measure, value in values.items()
        )
        workspace.progress(count, len(step.points))


def measure_angle(step: Angle, workspace: Workspace) -> None:
    """Write the norms of both differences, their ratio and angle: over all weights, each layer, and each component."""
    _check_alike(step.models)
    model = step.models[0].model(workspace)
    origin, first, second = (one.weights(workspace) for one in step.models)
    groups = _groups(model, step.models[0].encoder.build(workspace))
    moving = {name: names for name, names in groups.items() if _moves(names, origin, first, second)}
    rows = []
    for group, found in turns(origin, first, second, moving).items():
        layer = int(group.removeprefix("layer ")) if group.startswith("layer ") else None
        numbers = {"norm to first": found.first, "norm to second": found.second, "norm ratio": found.ratio}
        rows += [Row(name, value, dataset=group, layer=layer) for name, value in numbers.items()]
        rows.append(Row("angle", found.angle, "degrees", dataset=group, layer=layer))
    workspace.write_rows(row.labelled(**step.labels) for row in rows)


def _check_alike(models: Sequence[Tune]) -> None:
    """Refuse models whose classes stand for different labels, though they may be as many."""
    first, *others = models
    for other in others:
        if other.task.labels != first.task.labels:
            one, two = (", ".join(model.task.labels) for model in (first, other))
            raise InputError(f"models of different classes cannot be combined: {one}; {two}")
        if other.entity_types != first.entity_types:
            one, two = (", ".join(model.entity_types) for model in (first, other))
            raise InputError(f"models of different entity types cannot be combined: {one}; {two}. Map them to the same")


def _moves(names: Sequence[str], origin: Weights, *others: Weights) -> bool:
    """Whether all the others differ from the origin somewhere in these weights; what is frozen does not."""
    return all(any(not torch.equal(other[name], origin[name]) for name in names) for other in others)


def _finished(step: Surface, workspace: Workspace) -> set[tuple[float, ...]]:
    """The points that all rows are there of; rows of a point that a kill has cut short are dropped."""
    rows = workspace.rows_so_far()
    counts = Counter(_point(row) for row in rows)
    # Rows hold two alphas, so the mean of four models is measured again; a line that was cut short is dropped too.
    whole = {point for point in step.points if counts[point] == len(set(step.data)) * _measures(step)}
    workspace.write_rows(row for row in rows if _point(row) in whole)
    return whole


def _measures(step: Surface) -> int:
    return len(step.models[0].task.measures) + 1  # the loss


def _point(row: Row) -> tuple[float, ...]:
    return tuple(alpha for alpha in (row.alpha1, row.alpha2) if alpha is not None)


def _unit(measure: str) -> str:
    return MEASURES[measure].unit


def _names(model: TaskModel, part: Part) -> list[str] | None:
    """The parameters of a part."""
    if part == "all":
        return None
    backbone: Any = getattr(model.module, "backbone", None) or model.module.base_model
    inside = {id(weight) for weight in backbone.parameters()}
    return [name for name, weight in model.module.named_parameters() if (id(weight) in inside) == (part == "encoder")]


def _groups(model: TaskModel, encoder: Encoder) -> dict[str, list[str]]:
    """The names of weights: all of them, those of each layer, and those of each component through all layers."""
    groups: dict[str, list[str]] = {"all": []}
    for name, _ in model.module.named_parameters():
        place = _place(name, encoder)
        parts = ["all", place.part, *(() if place.layer is None else (f"layer {place.layer + 1}",))]
        for part in parts:
            groups.setdefault(part, []).append(name)
    return groups


def _place(name: str, encoder: Encoder) -> Place:
    """Where a weight of a task's model is, which calls the encoder inside of it its backbone."""
    if name.startswith(BACKBONE):
        return place_of(encoder, backbone_prefix(encoder) + name.removeprefix(BACKBONE))
    is_encoders = encoder.has_mlm_head and name.startswith(backbone_prefix(encoder))
    return place_of(encoder, name) if is_encoders else Place("head", None)
