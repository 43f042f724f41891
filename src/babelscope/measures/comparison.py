"""Two models on the same sentences: how much better the first scores."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from babelscope.core.declaration import Declaration
from babelscope.core.errors import InputError
from babelscope.core.faults import Faults
from babelscope.core.row import Row
from babelscope.core.scores import measure_of
from babelscope.core.step import Results, Step, Workspace
from babelscope.corpora.letters import split_name
from babelscope.measures.compiled import Compiled
from babelscope.measures.measure import Measure
from babelscope.steps import SENTENCES, Evaluate
from babelscope.tasks.kinds import BILSTM, kind_of
from babelscope.tuning.schedule import Schedule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Scored(Declaration):
    """A model that is scored in the study, one for each seed."""

    task: str
    """The name of one of its tasks."""
    encoder: str
    """The encoder's name in rows; or `bilstm`, where that is a baseline of the task."""
    evaluate: str
    """One of the data sets that the task is scored on."""


class Comparison(Measure):
    """Two models compared on the same sentences, with an interval over sentences and seeds; under every schedule."""

    unit: ClassVar[str] = "share"

    measure: Literal["comparison"] = "comparison"
    claim: str = Field(min_length=1)
    """In words: that the first is better. Comparisons with the same claim stand together."""
    first: Scored
    """The model that should be better."""
    second: Scored
    """The model that it is compared with, on the same sentences. These may be transliterated."""

    def check(self, compiled: Compiled, faults: Faults) -> None:
        if not compiled.complete:
            return
        faults.resolve("first", _check_scored, self.first, compiled)
        faults.resolve("second", _check_scored, self.second, compiled)
        faults.resolve("", self._check_paired, compiled)

    def _check_paired(self, compiled: Compiled) -> None:
        if self.first == self.second:
            raise InputError("first and second are one model; give another")
        sides = [side for side in (self.first, self.second) if side.task in compiled.tasks]
        tasks = dict.fromkeys(str(compiled.tasks[side.task].task) for side in sides)
        if len(tasks) > 1:
            raise InputError(f"{' and '.join(tasks)} are not scored alike; compare models of one task")
        sources = [(split_name(side.evaluate)[0], compiled.tasks[side.task].transfer.sizes.test) for side in sides]
        if len(set(sources)) > 1:
            named = " and ".join(f"{name} (at most {count} sentences)" for name, count in sources)
            raise InputError(f"{named} are not the same sentences; give the same data, and as many of them")

    def steps(self, compiled: Compiled) -> Iterator[Step]:
        """One a schedule, with all seeds."""
        for schedule in compiled.schedules:
            first, second = (_evaluations(side, schedule, compiled) for side in (self.first, self.second))
            yield Compare(claim=self.claim, first=first, second=second)


def _check_scored(scored: Scored, compiled: Compiled) -> None:
    task = compiled.task(scored.task)
    if not kind_of(task.task).scored_by_sentence(task.task):
        raise InputError(f"{task.task} is not scored sentence by sentence, which a comparison needs")
    main = measure_of(task.task.measures[0])
    if main.unit != "share" or main.better == "lower":
        raise InputError(
            f"{task.task} is scored by {main.name}; comparisons are of shares that are better when higher. Give "
            "`contrasts`, which compare any scores"
        )
    if scored.encoder == BILSTM:
        if scored.encoder not in task.transfer.baselines:
            raise InputError(f"{BILSTM} is no baseline of {scored.task}; add it there")
    elif not task.is_for(compiled.tuned(scored.encoder)):
        raise InputError(f"{scored.encoder} is not tuned on {scored.task}; add it to the task's encoders")
    if scored.evaluate not in (names := task.transfer.evaluate):
        raise InputError(f"{scored.task} is not scored on {scored.evaluate}; it is on {', '.join(names)}")


def _evaluations(scored: Scored, schedule: Schedule | None, compiled: Compiled) -> tuple[Evaluate, ...]:
    task = compiled.tasks[scored.task]
    data = next(data for data in task.test if data.name == scored.evaluate)
    if scored.encoder == BILSTM:
        return tuple(Evaluate(model=task.recurrent(seed), data=data) for seed in compiled.seeds)
    encoder = compiled.named[scored.encoder]
    return tuple(task.evaluation(encoder, schedule, seed, data) for seed in compiled.seeds)


class Compare(Step):
    """How much better one model scores than another on the same sentences; each tuned once with every seed."""

    version: ClassVar[int] = 3
    row_kind: ClassVar[str] = "comparison"

    claim: str
    first: tuple[Evaluate, ...]
    """One a seed."""
    second: tuple[Evaluate, ...]
    """With the same seeds, in the same order, on the same sentences; perhaps in other letters."""

    @property
    def title(self) -> str:
        return f"compare on {self.first[0].data.code}: {self.claim}"

    @property
    def _labels(self) -> dict[str, Any]:
        return self.first[0].labels | {"seed": None, "claim": self.claim}

    @property
    def told_by(self) -> dict[Hashable, Hashable]:
        return {tuple(self._labels.items()): self.key}

    def execute(self, workspace: Workspace) -> None:
        """Write the gain in each measure that is counted sentence by sentence, with its 95% interval and p-value.

        With fewer than three seeds there are neither.
        """
        from babelscope.core.inference import effect, gains

        first, second = (counts(side, workspace) for side in (self.first, self.second))
        rows = []
        for measure in sorted(first.keys() & second.keys()):
            gain = effect(gains(first[measure], second[measure]))
            row = Row(f"{measure} gain", gain.mean, "share", low=gain.low, high=gain.high, p=gain.p)
            rows.append(row.labelled(**self._labels))
        workspace.write_rows(rows)


def counts(side: Sequence[Evaluate], results: Results) -> dict[str, NDArray[np.float64]]:
    """Measure -> [2, seeds, sentences]: the numerators and denominators of its ratio."""
    import numpy as np

    files = [json.loads((results.result(scored) / SENTENCES).read_bytes()) for scored in side]
    # A model that predicts no entity has no precision.
    shared = [measure for measure in files[0] if all(measure in file for file in files)]
    return {measure: np.stack([file[measure] for file in files], axis=1).astype(np.float64) for measure in shared}
