"""Scores of the models on a line or a plane through tuned ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import NonNegativeInt, PositiveInt, SerializeAsAny

from babelscope.core.row import Row
from babelscope.core.scores import MEASURES
from babelscope.core.step import Needs, Step, Workspace
from babelscope.core.words import counted
from babelscope.corpora.datasets import Dataset, data_labels
from babelscope.measures.between import check_alike, path_labels
from babelscope.measures.formulas.grid import Point
from babelscope.steps import Tune

if TYPE_CHECKING:
    from babelscope.encoders.blend import Blend
    from babelscope.tasks.design import TaskModel

Part = Literal["all", "encoder", "head"]
"""Which weights are combined; the others are those of the model at the origin."""


class Surface(Step):
    """Score the models on a line through two tuned ones, on a plane through three, or at one point between any."""

    row_kind: ClassVar[str] = "interpolation"

    models: tuple[SerializeAsAny[Tune], ...]
    """The one at the origin, then the ends of the directions."""
    random: tuple[NonNegativeInt, ...] = ()
    """Seeds of further directions, which lead to no model."""
    part: Part = "all"
    points: tuple[tuple[float, ...], ...]
    """How far along each direction."""
    data: tuple[Dataset, ...]
    edition: PositiveInt = 1
    """Of what counts as head (`edition_of`)."""

    @property
    def labels(self) -> dict[str, Any]:
        """The columns of the model at the origin, the path from it to the others, and the part that moves.

        A random direction is called so: `qaa > random`. A mean over seeds has none.
        """
        labels = path_labels(self.models, *("random" for _ in self.random))
        if self._is_mean_over_seeds:
            labels["seed"] = None
        return labels | ({} if self.part == "all" else {"part": self.part})

    @property
    def _is_mean_over_seeds(self) -> bool:
        """Whether it is the one point at which all models, of different seeds, have the same share."""
        count = len(self.models)
        return len({model.seed for model in self.models}) > 1 and self.points == ((1 / count,) * (count - 1),)

    @property
    def needs(self) -> Needs:
        return self.models[0].needs

    @property
    def title(self) -> str:
        labels = self.labels
        among = f"{counted(len(self.points), 'model')} between"
        if labels["seed"] is None:
            among = f"the mean of {len(self.models)} models,"
        part = f", {self.part} alone" if "part" in labels else ""
        seeds = " > ".join(dict.fromkeys(str(model.seed) for model in self.models))
        return f"{among} {labels['path']}{part}: {labels['encoder']}, {labels['task']}, seed {seeds}"

    def execute(self, workspace: Workspace) -> None:
        """Write every measure at every point, each point as it is done; those that a killed attempt has done stay."""
        import torch

        from babelscope.measures.formulas.survey import survey
        from babelscope.tasks.measured import measured

        torch.set_num_threads(self.models[0].tuning.threads)
        check_alike(self.models)
        done = self._finished(workspace)
        left = [point for point in self.points if point not in done]
        model = self.models[0].model(workspace)
        model.module.to(self.models[0].tuning.device)
        measures = {data: measured(model.reading(data.code), data.read()) for data in self.data}
        blend, order = self._blend(model, workspace)
        for count, (point, scores) in enumerate(survey(blend, order, left, measures), len(done) + 1):
            workspace.add_rows(self._rows(point, scores))
            workspace.progress(count, len(self.points))

    def _blend(self, model: TaskModel, workspace: Workspace) -> tuple[Blend, list[int]]:
        """The working copy, and which model each of its corners is."""
        from babelscope.encoders.blend import Blend, moved, random_direction

        corners = [tuned.weights(workspace) for tuned in self.models]
        corners += [moved(corners[0], random_direction(corners[0], seed)) for seed in self.random]
        # In the order of their keys: the same sum on every line and plane through the same models.
        order = sorted(range(len(self.models)), key=lambda place: self.models[place].key)
        order += range(len(order), len(corners))
        return Blend(model.module, [corners[place] for place in order], _names(model, self.part)), order

    def _rows(self, point: Point, scores: dict[Dataset, dict[str, float]]) -> Iterator[Row]:
        labels = self.labels | dict(zip(("alpha1", "alpha2"), point, strict=False))
        for data, values in scores.items():
            for measure, value in values.items():
                yield Row(measure, value, _unit(measure)).labelled(**labels, **data_labels(data))

    def _finished(self, workspace: Workspace) -> set[Point]:
        """The points that all rows are there of; rows of a point that a kill has cut short are dropped."""
        rows = workspace.rows_so_far()
        counts = Counter(_point(row) for row in rows)
        measures = len(self.models[0].task.measures) + 1  # the loss
        # Rows hold two alphas, so the mean of four models is measured again; a line that was cut short is dropped too.
        whole = {point for point in self.points if counts[point] == len(set(self.data)) * measures}
        workspace.write_rows(row for row in rows if _point(row) in whole)
        return whole


def _point(row: Row) -> Point:
    return tuple(alpha for alpha in (row.alpha1, row.alpha2) if alpha is not None)


def _unit(measure: str) -> str:
    return MEASURES[measure].unit


def _names(model: TaskModel, part: Part) -> list[str] | None:
    """The parameters of a part; None: all."""
    from babelscope.encoders.state import POOLER

    if part == "all":
        return None
    backbone: Any = getattr(model.module, "backbone", None) or model.module.base_model
    inside = {id(weight) for name, weight in backbone.named_parameters() if not name.startswith(POOLER)}
    return [name for name, weight in model.module.named_parameters() if (id(weight) in inside) == (part == "encoder")]
