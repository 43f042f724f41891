"""A study of models between tuned ones, and what it leaves in its store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file

from babelscope.core.row import Row
from babelscope.core.step import Step
from babelscope.engine.events import Finished
from babelscope.engine.store import Store
from babelscope.measures.surface import Surface
from babelscope.steps import Evaluate, Tune
from babelscope.steps.plan import Plan
from toy_runs import execute

TASK_NAMES = ("pos", "ner", "parsing", "inference", "mlm")
LANGUAGES = {"a": ["world:qaa"], "b": ["world:qab"], "c": ["world:qaa", "world:qab"]}
TRAINED = {f"{task} {letter}" for task in TASK_NAMES for letter in "ab"} | {"pos c", "mlm c"}
ALPHAS = [-0.4, 0, 0.3, 0.7, 1, 1.4]
"""The same seen from the other end. The outermost two do not add up to 1 in floating point."""
LINES = {"ab": ("a", "b"), "ba": ("b", "a"), "ac": ("a", "c"), "bc": ("b", "c")}
PARTS = [(task, part) for task in ("pos", "parsing", "mlm") for part in ("encoder", "head")]


def interpolation(*tasks: str, **changes: Any) -> dict[str, Any]:
    scored = {"evaluate": ["world:qab"], "split": "test", "sentences": 10}
    return {"measure": "interpolation", "tasks": list(tasks)} | scored | changes


def angle(*tasks: str) -> dict[str, Any]:
    return {"measure": "angle", "tasks": list(tasks)}


def declared(encoder: Path) -> dict[str, Any]:
    lines = [interpolation(*(f"pos {letter}" for letter in line), alphas=ALPHAS) for line in LINES.values()]
    planes = [interpolation(*(f"pos {letter}" for letter in plane), alphas=ALPHAS) for plane in ("abc", "bca")]
    others = [interpolation(f"{task} a", f"{task} b", alphas=[0, 0.3, 1]) for task in TASK_NAMES[1:]]
    parts = [interpolation(f"{task} a", f"{task} b", part=part, alphas=[0.3, 1]) for task, part in PARTS]
    whole_plane = {
        "measure": "interpolation", "tasks": ["pos a", "pos b", "pos c"], "evaluate": ["world:qab"], "sentences": 8,
    }  # fmt: skip
    angles = [angle("pos a", "pos b", "pos c"), angle("mlm c", "mlm a", "mlm b")]
    return {
        "name": "between",
        "encoders": [str(encoder)],
        "tasks": {name: trained(name) for name in sorted(TRAINED)},
        "measures": [*lines, *planes, *others, *parts, whole_plane, *angles],
        "seeds": [0],
    }


def trained(name: str) -> dict[str, Any]:
    task, letter = name.split()
    return {
        "task": task,
        "train": LANGUAGES[letter],
        "evaluate": ["world:qab"],
        "sizes": {"train": 24, "dev": 6, "test": 10},
        "tuning": {"learning_rate": 3e-3, "epochs": 2},
    }


def languages_of(name: str) -> list[str]:
    """What the model of that name is trained on."""
    return [place.removeprefix("world:") for place in LANGUAGES[name.split()[1]]]


class Between(NamedTuple):
    """A study that was run, and what is in its store."""

    file: Path
    plan: Plan
    store: Store
    digests: dict[Path, str]
    """Of the tuned models' files, before anything was measured between them."""

    def tuned(self, name: str) -> Tune:
        """The model of a task of the study."""
        task, _ = name.split()
        languages = languages_of(name)
        steps = [step for step in self.plan.steps.values() if isinstance(step, Tune) and step.task.name == task]
        [found] = [step for step in steps if [data.language for data in step.train] == languages]
        return found

    def surface(self, *names: str, part: str = "all", points: int | None = None) -> Surface:
        """The step that measures between these models."""
        models = tuple(self.tuned(name) for name in names)
        steps = [step for step in self.plan.steps.values() if isinstance(step, Surface)]
        [found] = [
            step for step in steps if (step.models, step.part) == (models, part) and points in (None, len(step.points))
        ]
        return found

    def scores(self, step: Step) -> dict[tuple[float, ...], dict[str, float]]:
        """By place, the values by measure."""
        found: dict[tuple[float, ...], dict[str, float]] = {}
        for row in self.store.rows(step.key):
            place = tuple(alpha for alpha in (row.alpha1, row.alpha2) if alpha is not None)
            found.setdefault(place, {})[row.measure] = row.value
        return found

    def evaluation(self, name: str) -> list[Row]:
        """The rows of the model's own scores, without intervals."""
        model = self.tuned(name)
        steps = [step for step in self.plan.steps.values() if isinstance(step, Evaluate) and step.model == model]
        [step] = steps
        return [row for row in self.store.rows(step.key) if row.measure in model.task.measures]

    def weights(self, name: str) -> dict[str, np.ndarray]:
        """Of the best model."""
        return load_file(self.store.result(self.tuned(name).key) / "best.safetensors")


def complete(steps: Sequence[Step], store: Store) -> None:
    store.prepare()
    for step in steps:
        assert isinstance(event := execute(step, store), Finished), event
