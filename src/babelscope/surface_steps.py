"""Steps that measure models between tuned ones. What they compute is in `surfaces`, imported only when it runs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import NonNegativeInt, SerializeAsAny

from babelscope.core.step import Step, Workspace
from babelscope.corpora.datasets import Dataset
from babelscope.steps import Tune

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

    @property
    def labels(self) -> dict[str, Any]:
        """The columns of the model at the origin, and all models' training languages: `qaa > qaa+qab`.

        A random direction is called so: `qaa > random`.
        A mean over seeds has none.
        """
        labels = labels_of(self.models)
        labels["train_languages"] += " > random" * len(self.random)
        if len(self.points) == 1 and len({model.seed for model in self.models}) > 1:
            labels["seed"] = None
        part = "" if self.part == "all" else f", {self.part} alone"
        return labels | {"train_languages": labels["train_languages"] + part}

    @property
    def title(self) -> str:
        labels = self.labels
        among = f"{len(self.points)} models between"
        if labels["seed"] is None:
            among = f"the mean of {len(self.models)} models,"
        seeds = " > ".join(dict.fromkeys(str(model.seed) for model in self.models))
        return f"{among} {labels['train_languages']}: {labels['encoder']}, {labels['task']}, seed {seeds}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.surfaces import measure_surface

        measure_surface(self, workspace)


class Angle(Step):
    """How far two tuned models are from a third, and the angle between the two ways; overall and part by part."""

    row_kind: ClassVar[str] = "angle"

    models: tuple[SerializeAsAny[Tune], SerializeAsAny[Tune], SerializeAsAny[Tune]]
    """The one at the origin, and the two others."""

    @property
    def labels(self) -> dict[str, Any]:
        """As of a `Surface`."""
        return labels_of(self.models)

    @property
    def title(self) -> str:
        labels = self.labels
        return f"angle at {labels['train_languages']}: {labels['encoder']}, {labels['task']}, seed {labels['seed']}"

    def execute(self, workspace: Workspace) -> None:
        from babelscope.surfaces import measure_angle

        measure_angle(self, workspace)


def labels_of(models: tuple[Tune, ...]) -> dict[str, Any]:
    """The columns of the first model; the training languages are those of all."""
    return models[0].labels | {"train_languages": " > ".join(str(model.trained_on) for model in models)}
