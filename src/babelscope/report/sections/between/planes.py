"""Planes of models through three tuned ones, or along two random directions, read from rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from babelscope.core.row import Row
from babelscope.report.kinds import main_measure, rises
from babelscope.report.model import Report
from babelscope.report.score import title_of
from babelscope.report.sections.between.lines import Where, moving


@dataclass(frozen=True)
class Plane:
    """The task's first measure at every point, for every language and seed."""

    task: str
    encoder: str
    """With surgery, schedule, and the part that moves if the rest does not."""
    split: str
    models: Sequence[str]
    """Training languages: of the model at 0, 0, and of those that the directions lead to, or `random`."""
    rows: list[Row] = field(default_factory=list)

    @property
    def title(self) -> str:
        """`Plane from qaa+qab to qaa and qab: tagging, world-pairs`."""
        origin, first, second = self.models
        ends = "in random directions" if first == second == "random" else f"to {first} and {second}"
        place = "" if self.split == "dev" else f", {self.split}"
        return f"Plane from {origin} {ends}: {title_of(self.task)}, {self.encoder}{place}"

    def heights(self) -> Mapping[Where, Mapping[tuple[float, float], float]]:
        """Data set -> place -> mean over seeds of the score divided by that at 0, 0; none where that is not above 0."""
        by_seed: dict[tuple[Where, int | None], dict[tuple[float, float], float]] = defaultdict(dict)
        for row in self.rows:
            by_seed[Where.of(row), row.seed][row.alpha1 or 0.0, row.alpha2 or 0.0] = row.value
        quotients: dict[Where, dict[tuple[float, float], list[float]]] = defaultdict(lambda: defaultdict(list))
        for (where, _), values_there in by_seed.items():
            if (origin := values_there.get((0.0, 0.0), 0.0)) > 0:
                for place, value in values_there.items():
                    quotients[where][place].append(value / origin)
        return {
            where: {place: fmean(values) for place, values in places.items()} for where, places in quotients.items()
        }


def planes(report: Report) -> list[Plane]:
    """All planes that there are scores of; of tasks whose scores are better when higher."""
    by_key: dict[tuple[str, str, str, tuple[str, ...]], Plane] = {}
    for row in report.rows:
        task, split = row.task or "", row.split or ""
        of_plane = row.kind == "interpolation" and row.alpha2 is not None and row.seed is not None
        if of_plane and row.measure == main_measure(row, report.main) and rises(task, report.main):
            key = (task, moving(row), split, row.models)
            by_key.setdefault(key, Plane(*key)).rows.append(row)
    return list(by_key.values())
