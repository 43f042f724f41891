"""How far apart tuned models are, and in which directions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import PositiveInt, SerializeAsAny

from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.step import Step, Workspace
from babelscope.measures.between import check_alike, check_tasks, edition_of, path_labels
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure
from babelscope.steps import Tune

if TYPE_CHECKING:
    from torch import Tensor

    from babelscope.encoders.load import Encoder
    from babelscope.surgery.parts import Location
    from babelscope.tasks.design import TaskModel

BACKBONE = "backbone."


class Angles(Measure):
    """How far two tasks' models are from a third's, and the angle between the two ways (Wu et al., 2022, figure 4)."""

    reads_weights: ClassVar[bool] = True

    measure: Literal["angle"] = "angle"
    tasks: tuple[str, str, str]
    """Three tasks of the study with the same `task`: the one whose model is measured from, then the two others."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        faults.resolve("", check_tasks, self.tasks, compiled)

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        for origin, first, second in compiled.tunings(self.tasks):
            yield Angle(models=(origin, first, second), edition=edition_of(origin))


class Angle(Step):
    """How far two tuned models are from a third, and the angle between the two ways; overall and part by part."""

    row_kind: ClassVar[str] = "angle"

    models: tuple[SerializeAsAny[Tune], SerializeAsAny[Tune], SerializeAsAny[Tune]]
    """The one at the origin, and the two others."""
    edition: PositiveInt = 1
    """Of what counts as head (`edition_of`)."""

    @property
    def labels(self) -> dict[str, Any]:
        """As of a `Surface`."""
        return path_labels(self.models)

    @property
    def title(self) -> str:
        labels = self.labels
        return f"angle at {labels['path']}: {labels['encoder']}, {labels['task']}, seed {labels['seed']}"

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        return {tuple(self.labels.items()): self.key}

    def execute(self, workspace: Workspace) -> None:
        """Write the norms of both differences, their ratio and angle: over all weights, each layer and component."""
        from babelscope.measures.formulas.geometry import turns

        check_alike(self.models)
        model = self.models[0].model(workspace)
        origin, first, second = (tuned.weights(workspace) for tuned in self.models)
        groups = _groups(model, self.models[0].encoder.build(workspace))
        moving = {group: names for group, names in groups.items() if _moves(names, origin, first, second)}
        measured = turns(origin, first, second, {group.part: names for group, names in moving.items()})
        rows = []
        for group in moving:
            turn = measured[group.part]
            numbers = {"norm to first": turn.first, "norm to second": turn.second, "norm ratio": turn.ratio}
            rows += [Row(name, value, part=group.part, layer=group.layer) for name, value in numbers.items()]
            rows.append(Row("angle", turn.angle, "degrees", part=group.part, layer=group.layer))
        workspace.write_rows(row.labelled(**self.labels) for row in rows)


def _moves(names: Sequence[str], origin: Mapping[str, Tensor], *others: Mapping[str, Tensor]) -> bool:
    """Whether all the others differ from the origin somewhere in these weights; what is frozen does not."""
    return all(any(not other[name].equal(origin[name]) for name in names) for other in others)


class Group(NamedTuple):
    """Weights that are measured together."""

    part: str
    """What rows call them."""
    layer: int | None = None
    """Counted from 1, where they are those of a layer."""


def _groups(model: TaskModel, encoder: Encoder) -> dict[Group, list[str]]:
    """The names of weights: all of them, those of each layer, and those of each component through all layers."""
    groups: dict[Group, list[str]] = {Group("all"): []}
    for name, _ in model.module.named_parameters():
        place = _place(name, encoder)
        mine = [Group("all"), Group(place.part)]
        if place.layer is not None:
            mine.append(Group(f"layer {place.layer + 1}", place.layer + 1))
        for group in mine:
            groups.setdefault(group, []).append(name)
    return groups


def _place(name: str, encoder: Encoder) -> Location:
    """Where a weight of a task's model is, which calls the encoder inside of it its backbone."""
    from babelscope.encoders.state import POOLER, backbone_prefix
    from babelscope.surgery.parts import Location, location_of

    if name.startswith(f"{BACKBONE}{POOLER}"):
        return Location("head", None)
    if name.startswith(BACKBONE):
        return location_of(encoder, backbone_prefix(encoder) + name.removeprefix(BACKBONE))
    is_encoders = encoder.has_mlm_head and name.startswith(backbone_prefix(encoder))
    return location_of(encoder, name) if is_encoders else Location("head", None)
